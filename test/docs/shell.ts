/** One command of a line of shell: its words, without quotes, redirections and assignments in front. */
export type Words = readonly string[];

const WORD = /'([^']*)'|"([^"]*)"|\\(.)|([^\s'"\\|&;<>]+)/y;

/** The commands of a `sh` fence: lines joined at `\`, cut at `&&`, `|` and `;`, comments left out. */
export function commandsIn(fence: string): readonly Words[] {
  const lines = fence.replaceAll("\\\n", " ").split("\n");
  return lines.flatMap((line) => splitCommands(line)).filter((words) => words.length > 0);
}

function splitCommands(line: string): readonly Words[] {
  const commands: string[][] = [[]];
  let word: string | undefined;
  const endWord = () => {
    if (word !== undefined) commands.at(-1)?.push(word);
    word = undefined;
  };
  for (let at = 0; at < line.length; ) {
    WORD.lastIndex = at;
    const piece = WORD.exec(line);
    if (line[at] === "#" && word === undefined) break;
    if (piece) {
      word = (word ?? "") + (piece[1] ?? piece[2] ?? piece[3] ?? piece[4] ?? "");
      at = WORD.lastIndex;
      continue;
    }
    endWord();
    if ("|&;".includes(line[at] ?? "")) commands.push([]);
    at += 1;
  }
  endWord();
  return commands.map((words) => words.slice(words.findIndex((one) => !/^[A-Z_]+=/.test(one))));
}
