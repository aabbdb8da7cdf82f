export const USAGE = `Usage: agent-rewind <command> [options]

  run [-o <file>] -- <command…>       record a Node.js program, without changing it
      --ignore-host <host>              a host that is not recorded; may be repeated
      --no-redact                       keep secrets in the recording
  replay <file> -- <command…>         replay the program: it reaches no network, and fails if an answer is missing
      --resume [-o <file>]              execute and record what is missing instead
      --allow-host <host>               a host that it may reach; may be repeated
  inspect <file>                      print the tree of frames and calls of a snapshot, trace or recording
      --why                             also why a replay does not answer a call
      --ids                             also the ids of spans
      --failed                          only what failed or did not end
      --grep <text>                     only what contains the text
      --depth <n>                       only the first levels
      --trace <id>                      run to show, if the file contains several
  show <file> <callId|spanId|#n>      print everything of one call or frame
      --delta                           only the messages that the previous turn did not have
      --against <file>                  the difference to the same call of another recording, line by line
      --raw                             also the documents as they were recorded
      --trace <id>                      run to show, if the file contains several
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
      --trace <id>                      run to compare, if a file contains several; twice for two runs
  hash <file…>                        print the contentHash of JSON documents
  runs list --store <url>             list the runs of a store, such as sqlite:runs.db
      --status <status>, --agent <name>, --limit <n>
  runs show <id> --store <url>        print a run, and its calls that must happen once
  runs settle <id> <callId> --store <url>   decide a call that may have taken effect
      --output <json>, or --not-done    its output, or that it did not happen
  runs prune --store <url>            delete finished runs
      --older-than <age>, --keep-last <n>   such as 30d
  runs export <id> --store <url>      print the snapshot of a run
      -o, --file <file>                 or write it
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
  1   a difference, a problem in a log, or a missing answer; run and replay: the code of the program
  2   invalid command line
  3   an input cannot be read or is invalid, or an output cannot be written
  70  internal error
`;

/** The help of one command: its lines of the usage, and the common options. */
export function usageOf(command: string): string {
  const [, commands = "", options = ""] = USAGE.split("\n\n");
  const sections = commands.split(/\n(?=  \w)/).filter((section) => section.trim().split(/\s/)[0] === command);
  return `Usage: agent-rewind ${command} …\n\n${sections.join("\n")}\n\n${options}\n`;
}
