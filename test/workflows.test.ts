import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT, readText } from "./docs/markdown";

interface Workflow {
  readonly permissions: object;
  readonly jobs: {
    readonly run: {
      readonly strategy?: { readonly matrix: { readonly command: readonly string[] } };
      readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
    };
  };
}

const FOLDER = ".github/workflows";
const FILES = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);
const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
const workflow = (name: string): Workflow => parse(readText(`${FOLDER}/${name}`));
const commandsOf = ({ jobs }: Workflow) => jobs.run.steps.flatMap(({ run }) => run ?? []);

/** Without it an ordinary user gets no namespaces on GitHub's machines. */
const ALLOW_NAMESPACES = "sudo sysctl --write kernel.apparmor_restrict_unprivileged_userns=0";

test("a change is run as a developer runs it", () => {
  expect(commandsOf(workflow("ci.yml"))).toEqual([ALLOW_NAMESPACES, "bash .ci/run"]);
});

test("every week there is what takes longer, by commands that exist", () => {
  const weekly = workflow("weekly.yml");
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the workflow's.
  expect(commandsOf(weekly)).toEqual([ALLOW_NAMESPACES, "npm ci", "${{ matrix.command }}"]);
  const commands = weekly.jobs.run.strategy?.matrix.command.map((line) => line.split(" ")) ?? [];
  expect(commands.length).toBeGreaterThan(0);
  for (const [npm, verb, script = ""] of commands) {
    expect([npm, ["run", "audit"].includes(verb ?? "")]).toEqual(["npm", true]);
    if (verb === "run") expect(scripts).toHaveProperty([script]);
  }
});

test.each(FILES)("%s may read the code and no more, and names no host", (file) => {
  expect((parse(readText(file)) as Workflow).permissions).toEqual({ contents: "read" });
  expect(readText(file)).not.toMatch(/:\/\/|\b[a-z0-9-]+\.(?:com|dev|io|net|org)\b/);
});
