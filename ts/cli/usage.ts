export const USAGE = `Usage: agent-rewind <command> [options]

  inspect <snapshot|trace>            print the tree of frames and calls
  restore <trace> [-o <file>]         restore a snapshot from a trace
      --span <id>                       as it was at that span; by default at the end
      --anchor before|after             before the span's start, or after its end (default)
      --trace <id>                      which run, where the file holds several
  to-test <trace> -o <file>           write a vitest file, and its recording, that makes a run again
      --agent <file>#<export>           the agent that the run was of, or
      --call <file>#<export>            a function that makes the run itself
      --model <file>#<export>           the model that runWith was given
      --name <name>                     of the test
      --trace <id>                      which run, where the file holds several
  diff <a> <b>                        compare two snapshots or traces
  hash <file…>                        print the contentHash of JSON documents
  context show <log…>                 list what was sent to models
  context verify <log…>               check audit logs
      --head <seq>:<hash>               a line that the log must hold
      --key-env <name>, --key-file <file>   where the key of the log is
      --partial                         earlier files may be missing
  context diff <log> <log…>           compare the contexts of two releases, or more with the first

Options
  --json       print JSON
  -h, --help   print this
  --version    print the version

A file "-" is standard input. Colors are for terminals only; NO_COLOR turns them off.

Exit codes
  0  done; nothing differs, and all is right
  1  something differs, or a log is not right
  2  the command line is wrong
  3  an input cannot be read or is not what it should be, or an output cannot be written
  70 a fault of the program itself
`;
