export const USAGE = `Usage: agent-rewind <command> [options]

  inspect <snapshot|trace>            print the tree of frames and calls
      --why                             also why a replay does not answer a call
  restore <trace> [-o <file>]         restore a snapshot from a trace
      --span <id>                       state at this span (default: end of the trace)
      --anchor before|after             before the span's start, or after its end (default)
      --trace <id>                      run to restore, if the file contains several
  to-test <trace> -o <file>           write a vitest test that replays a run, and its recording
      --agent <file>#<export>           agent of the run, or
      --call <file>#<export>            function that starts the run itself
      --model <file>#<export>           model that was passed to runWith
      --name <name>                     name of the test
      --trace <id>                      run to use, if the file contains several
  diff <a> <b>                        compare two snapshots or traces
  hash <file…>                        print the contentHash of JSON documents
  context show <log…>                 list the requests sent to models
  context verify <log…>               check audit logs
      --head <seq>:<hash>               line that the log must contain
      --key-env <name>, --key-file <file>   where to read the key of the log
      --partial                         accept logs whose first files are missing
  context diff <log> <log…>           compare the model contexts of the first log with the others

Options
  --json       print JSON
  -h, --help   print this help
  --version    print the version

The file "-" is standard input. Colors are used on terminals only. NO_COLOR turns them off.

Exit codes
  0   success: no differences, no problems
  1   a difference, or a problem in a log
  2   invalid command line
  3   an input cannot be read or is invalid, or an output cannot be written
  70  internal error
`;
