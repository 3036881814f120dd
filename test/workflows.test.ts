import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { ROOT, readText } from "./docs/markdown";

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  /** Another workflow, in place of steps. */
  readonly uses?: string;
  readonly needs?: string | readonly string[];
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly strategy?: { readonly matrix: { readonly command: readonly string[] } };
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const FOLDER = ".github/workflows";
const FILES = readdirSync(join(ROOT, FOLDER)).map((name) => `${FOLDER}/${name}`);
const { scripts } = JSON.parse(readText("package.json")) as { scripts: Record<string, string> };
const workflow = (name: string): Workflow => parse(readText(`${FOLDER}/${name}`));
const commandsOf = (job: Job | undefined) => job?.steps?.flatMap(({ run }) => run ?? []) ?? [];

/** What a step's commands say, if the programs print their arguments in place of their work. */
function wordsOf(commands: string): readonly string[] {
  const stubs = "sudo() { echo $@; }; node() { echo $@; }; jq() { echo sha256:0; }\n";
  const env = {
    HOME: "/home",
    PATH: "/bin",
    IMAGE: "registry:5000/team/registrar",
    GITHUB_REF_NAME: "v1.2.3",
  };
  return execFileSync("bash", ["--norc", "-ec", stubs + commands], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  })
    .trim()
    .split(/\s+/);
}

/** Without it an ordinary user gets no namespaces on GitHub's machines. */
const ALLOW_NAMESPACES = "sudo sysctl --write kernel.apparmor_restrict_unprivileged_userns=0";

test.each(["weekly.yml", "upkeep.yml"])("%s has what takes longer, by commands that exist", (name) => {
  const { run } = workflow(name).jobs;
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the workflow's.
  expect(commandsOf(run)).toEqual([ALLOW_NAMESPACES, "npm ci", "${{ matrix.command }}"]);
  const commands = run?.strategy?.matrix.command.map((line) => line.split(" ")) ?? [];
  expect(commands.length).toBeGreaterThan(0);
  for (const [npm, verb, script = ""] of commands) {
    expect([npm, ["run", "audit"].includes(verb ?? "")]).toEqual(["npm", true]);
    if (verb === "run") expect(scripts).toHaveProperty([script]);
  }
});

describe("a release", () => {
  const { jobs } = workflow("release.yml");

  test("runs by digest what it pushed, and only then signs, tags and names it, under two names", () => {
    const [build = "", run = "", publish = ""] = commandsOf(jobs.image).filter((text) =>
      /scripts\/release/.test(text),
    );
    const notes = commandsOf(jobs.release).find((command) => command.includes(">> notes.md")) ?? "";
    const names = ["registry:5000/team/registrar", "registry:5000/team/csi-node-driver-registrar"];
    expect(wordsOf(build).slice(-4)).toEqual(["scripts/release/build.mjs", "image", ...names]);
    expect(wordsOf(run).slice(-4)).toEqual([
      ...["scripts/release/try.mjs", `${names[0]}@sha256:0`, "linux/amd64", "linux/arm64"],
    ]);
    expect(wordsOf(publish)).toEqual(["scripts/release/publish.mjs", "image", "v1.2.3", ...names]);
    expect(wordsOf(notes.replaceAll(">> notes.md", "").replace("> notes.md", ""))).toEqual(
      expect.arrayContaining(names.map((name) => `\`${name}:v1.2.3\``)),
    );
  });
});

test("every suite that package.json has runs for a change or every week", () => {
  const ran = [".ci/run", `${FOLDER}/weekly.yml`, `${FOLDER}/upkeep.yml`].map(readText).join();
  const suites = Object.keys(scripts).filter((name) => name.startsWith("test"));
  for (const suite of suites) expect(ran).toMatch(new RegExp(`(?:npm|run|suite|tested) ${suite}\\b`));
});

describe.each(FILES)("%s", (file) => {
  const { permissions, jobs } = parse(readText(file)) as Workflow;
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);

  test("may read the code and no more, unless a job says so, and names no host", () => {
    expect(permissions).toEqual({ contents: "read" });
    expect(readText(file)).not.toMatch(/:\/\/|\b[a-z0-9-]+\.(?:com|dev|io|net|org)\b/);
    const given = Object.values(jobs).flatMap((job) => Object.entries(job.permissions ?? {}));
    for (const [what, how] of given)
      expect(["contents read", "contents write", "id-token write"]).toContain(`${what} ${how}`);
  });

  test("names actions by their commit, with the release for people", () => {
    const used = Array.from(readText(file).matchAll(/^ *-? uses: (?!\.\/)(.*)$/gm), ([, text = ""]) => text);
    expect(used.length).toBe(steps.filter(({ uses }) => uses).length);
    for (const text of used) expect(text).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  test("leaves no token to the steps after the checkout, and puts no text of others into a shell", () => {
    for (const { uses = "", run = "", with: settings } of steps) {
      if (uses.startsWith("actions/checkout@")) expect(settings).toEqual({ "persist-credentials": false });
      expect(run).not.toMatch(/\$\{\{(?! matrix\.command \}\})/);
    }
  });

  test("ends every job of its own in time", () => {
    for (const job of Object.values(jobs))
      if (!job.uses) expect(job["timeout-minutes"]).toBeLessThanOrEqual(180);
  });
});
