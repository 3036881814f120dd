import { parseArgs } from "node:util";
import { CHECKS } from "./checks";
import { installPackage } from "./installation";
import { fetchNode, NODE_LINES } from "./nodes";

const USAGE = `usage: npm run test:matrix -- [--node LINE]... [--quick]

Packs the project, installs the package as npm does for its users, and tries it on each Node: ${NODE_LINES.join(", ")}.
Then the suites of \`npm test\`, on that Node. Exits with 1 if anything failed. Takes about ten minutes.

  --node LINE   on this Node only, such as 24 or 20.19.0; repeatable
  --quick       without the suites: half a minute for each Node
`;

const say = (text: string) => void process.stdout.write(`${text}\n`);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      node: { type: "string", multiple: true, default: [...NODE_LINES] },
      quick: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return say(USAGE);
  await using installation = await installPackage();
  const checks = CHECKS.filter(({ isLong = false }) => !(isLong && values.quick));
  for (const line of values.node) {
    const node = await fetchNode(line, say);
    for (const { name: check, run } of checks) {
      process.stdout.write(`Node ${node.version}: ${check} … `);
      await run({ node, installation }).then(say, (error: Error) => {
        process.exitCode = 1;
        say(`failed: ${error.message}`);
      });
    }
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exitCode = 1;
});
