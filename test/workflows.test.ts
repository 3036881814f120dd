import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { buildSync } from "esbuild";
import { scripts } from "../package.json";
import { isThere, ROOT, readText } from "./docs/markdown";
import { createTempFolder } from "./support/temp-folder";
import { parse } from "./support/yaml";

// What zizmor and actionlint check, .ci/run has: pinned actions, the token of the checkout, others' text in a shell, caches of a release.

interface Step {
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly "working-directory"?: string;
}

interface Job {
  readonly needs?: readonly string[];
  readonly uses?: string;
  readonly permissions?: Readonly<Record<string, string>> | string;
  readonly "timeout-minutes"?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

const FOLDER = ".github/workflows";
const JOBS = readdirSync(join(ROOT, FOLDER)).flatMap((name) => {
  const jobs: Readonly<Record<string, Job>> = parse(readText(`${FOLDER}/${name}`)).jobs;
  return Object.entries(jobs).map(([job, settings]) => ({ place: `${name}: ${job}`, ...settings }));
});

test("every suite that package.json has runs for a change or every week", () => {
  const ran = [".ci/run", `${FOLDER}/weekly.yml`, `${FOLDER}/upkeep.yml`].map(readText).join();
  const suites = Object.keys(scripts).filter((name) => name.startsWith("test"));
  for (const suite of suites) expect(ran).toMatch(new RegExp(`(?:npm|run|suite|tested) ${suite}\\b`));
});

test("every job has a time limit", () => {
  for (const job of JOBS) if (!job.uses) expect(job["timeout-minutes"]).toBeLessThanOrEqual(180);
});

/** A job that could publish, tag, sign or write: the code of a dependency must not run in it. */
const hasRights = (job: Job) =>
  JSON.stringify(job).includes("secrets") || JSON.stringify(job.permissions ?? {}).includes("write");

/** What keeps an action from a cache, which any job of the branch can fill, and which may hold files of any path. */
const CACHES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "actions/attest-build-provenance": {},
  "actions/checkout": {},
  "actions/download-artifact": {},
  "actions/setup-go": { cache: false },
  "actions/setup-node": { cache: undefined, "package-manager-cache": false },
  "actions/upload-artifact": {},
  "docker/setup-qemu-action": { "cache-image": false },
  "github/codeql-action/analyze": {},
  "github/codeql-action/init": { "trap-caching": false, "dependency-caching": undefined },
  "sigstore/cosign-installer": {},
};

/** Who made the actions that such a job may use; each is pinned to a commit. */
const ACTIONS = /^(?:actions|github|sigstore)\//;
/** Programs of GitHub's runner that run no code of a package. */
const PROGRAMS = [
  "cosign",
  "cp",
  "cut",
  "echo",
  "exit",
  "gh",
  "mkdir",
  "rm",
  "sha256sum",
  "skopeo",
  "tar",
  "test",
];

/** The first word of each command of a shell's text. */
const commandsIn = (shell: string) =>
  shell
    .replaceAll("\\\n", " ")
    .split(/\n|&&|\|\|?|;|\$\(/)
    .map((text) => text.trim().replace(/^\(/, ""))
    .filter((text) => text !== "" && !text.startsWith("#"));

/** Why a command may run code of a package: it is none of the programs above, and no script of ours that runs only them. */
function reasonAgainst(command: string): string | undefined {
  const [program = "", file = ""] = command.split(/\s+/);
  if (PROGRAMS.includes(program)) return undefined;
  if (program !== "node" || !/^scripts\/release\/[\w-]+\.mjs$/.test(file)) return command;
  return reasonAgainstScript(file);
}

const STARTED = /\b(?:run|spawn|spawnSync|execFileSync|execFile|exec|execSync)\(([^,)]*)(?:, *([^,)]*))?/g;

/** By what it imports, all the way down, and the programs that these files start. */
function reasonAgainstScript(script: string): string | undefined {
  if (!isThere(script)) return `${script} is not there`;
  const options = { absWorkingDir: ROOT, bundle: true, write: false, platform: "node" } as const;
  const built = buildSync({ ...options, entryPoints: [script], packages: "external", metafile: true });
  const { inputs } = built.metafile;
  const reasons = Object.entries(inputs).flatMap(([file, { imports }]) => [
    ...(dirname(file) === "scripts/release" ? [] : [`${script} imports ${file}`]),
    ...imports
      .filter(({ path, external }) => external && !path.startsWith("node:"))
      .map(({ path }) => `${file} imports ${path}`),
    ...Array.from(readText(file).matchAll(STARTED), ([, program = "", word = ""]) => {
      const isShared = file.endsWith("/command.mjs") && program.startsWith("program");
      const isNpm = program === '"npm"' && /^(?:"publish"|\["view")$/.test(word);
      return isShared || isNpm || /^"(?:cosign|skopeo|git|tar)"$/.test(program)
        ? ""
        : `${file} starts ${program} ${word}`;
    }),
  ]);
  return reasons.find((reason) => reason !== "");
}

/** Whether a step puts what another job handed over among other files: scripts that run later, or files that are published. */
function mixesFiles({ uses = "", with: given, run = "", "working-directory": at }: Step): boolean {
  const isOutside = (path: unknown) => /^\$\{\{ runner\.temp \}\}\//.test(String(path));
  if (uses.startsWith("actions/download-artifact@")) return !isOutside(given?.path);
  const unpacks = /^tar (?!--create )(?!.* --directory "\$RUNNER_TEMP\/\w+"$)/;
  return commandsIn(run).some((command) => unpacks.test(command)) && !isOutside(at);
}

describe("no job with a right runs what may execute a dependency's code", () => {
  const privileged = JOBS.filter(hasRights);

  test("the jobs with rights are these", () => {
    const names = ["release.yml: announce", "release.yml: publish", "scan.yml: code", "scan.yml: report"];
    expect(privileged.map(({ place }) => place).sort()).toEqual(names);
  });

  test.each(privileged)("$place", ({ uses, steps = [] }) => {
    expect(uses).toBeUndefined(); // Another workflow's jobs would have the rights.
    const used = steps.flatMap((step) => (step.uses === undefined ? [] : [step.uses]));
    expect(used.filter((name) => !ACTIONS.test(name))).toEqual([]);
    const commands = steps.flatMap(({ run = "" }) => commandsIn(run));
    expect(commands.map(reasonAgainst).filter((reason) => reason !== undefined)).toEqual([]);
    expect(steps.filter(mixesFiles)).toEqual([]);
  });

  const released = JOBS.filter((job) => job.place.startsWith("release.yml") || hasRights(job));
  const actionsOf = ({ steps = [] }: Job) => steps.filter(({ uses }) => uses !== undefined);

  test.each(released.filter((job) => actionsOf(job).length > 0))(
    "$place restores no cache, nor does a job that makes what it publishes",
    (job) => {
      for (const { uses = "", with: given = {} } of actionsOf(job)) {
        const [action = ""] = uses.split("@");
        const wanted = CACHES[action];
        if (action === "github/codeql-action/init")
          expect(job.env?.CODEQL_OVERLAY_DATABASE_MODE).toBe("none");
        expect(
          Object.fromEntries(Object.keys(wanted ?? { [action]: 0 }).map((key) => [key, given[key]])),
        ).toEqual(wanted);
      }
    },
  );

  test("what a job may write to the repository's issues or releases is no file of a job that ran packages", () => {
    const writers = privileged.filter((job) =>
      /"(?:issues|contents)":"write"/.test(JSON.stringify(job.permissions)),
    );
    const takers = writers.filter((job) => JSON.stringify(job.steps).includes("download-artifact"));
    // The files of `publish`, which has rights itself; the test below demands their digest.
    expect(takers.map(({ place }) => place)).toEqual(["release.yml: announce"]);
    expect(writers.map(({ place }) => place)).toEqual(["release.yml: announce", "scan.yml: report"]);
  });

  test("no job fills the cache of an action that takes one unasked: QEMU's unpacks it at any path, as root", () => {
    const emulators = JOBS.flatMap(actionsOf).filter(({ uses = "" }) => uses.startsWith("docker/setup-qemu"));
    expect(emulators.map((step) => step.with?.["cache-image"])).toEqual([false, false, false]);
  });

  test.each<Step>([
    { uses: "actions/download-artifact@0", with: { name: "release" } },
    { run: "test -e release.tar && tar --extract --file release.tar" },
    { run: "tar --extract --file release.tar --directory release", "working-directory": "image" },
  ])("%j would be found: it may replace a script that runs later", (step) =>
    expect(mixesFiles(step)).toBe(true),
  );

  test.each([
    "npm ci",
    "npx jest",
    "sudo apt-get install x",
    "node dist/cli.js",
    "node scripts/release/build.mjs x",
  ])("%s would be found", (command) =>
    expect(commandsIn(`echo a | test b && ${command}`).map(reasonAgainst)).toContainEqual(expect.any(String)),
  );

  test("only the job that makes the release on GitHub may write to the repository, and does nothing else", () => {
    const writers = privileged.filter((job) =>
      JSON.stringify(job.permissions).includes('"contents":"write"'),
    );
    expect(writers.map(({ place }) => place)).toEqual(["release.yml: announce"]);
    const steps = writers.flatMap((job) => job.steps ?? []);
    expect(steps.flatMap(({ uses = [] }) => uses)).toEqual([
      expect.stringMatching(/^actions\/download-artifact@/),
    ]);
    const commands = steps.flatMap(({ run = "" }) => commandsIn(run));
    const programs = [
      "echo",
      "sha256sum",
      "mkdir",
      "tar",
      "test",
      "gh api",
      "echo",
      "exit",
      "gh release create",
    ];
    expect(commands.map((command) => programs.find((words) => command.startsWith(`${words} `)))).toEqual(
      programs,
    );
  });

  // A login stays in a file, and an action bundles the code of packages.
  test.each(privileged)("$place: no action runs while there is a file with a login", ({ steps = [] }) => {
    const login = steps.findIndex(({ run = "" }) => /\blogin\b/.test(run));
    if (login < 0) return;
    expect(steps.slice(login).flatMap(({ uses = [] }) => uses)).toEqual([]);
    // What an action does after the last step finds no login.
    expect(steps.at(-1)).toMatchObject({ if: "always()", run: 'rm --force "$HOME/.docker/config.json"' });
  });

  test("npm gets the package with the settings that no file may change", () =>
    expect(readText("scripts/release/package.mjs")).toMatch(/"npm", "publish", tarball, \.\.\.SETTINGS, /));
});

describe("the release publishes what was built and tested, by the digest of the job without rights", () => {
  const { jobs } = parse(readText(`${FOLDER}/release.yml`));

  test.each(["test", "publish"])("%s", (name) => {
    const steps: readonly Step[] = jobs[name].steps;
    const readers = steps.filter(({ run = "" }) => /handed-over|release\.tar|[\w/-]\*/.test(run));
    const take = "node scripts/release/take.mjs";
    const words = `${take} "$RUNNER_TEMP/handed-over/release.tar" "$SHA256" "$RUNNER_TEMP/release"`;
    expect(readers).toEqual([expect.objectContaining({ run: expect.stringContaining(words) })]);
    expect(readers[0]?.env?.SHA256).toMatch(/^\$\{\{ needs\.build\.outputs\.sha256 \}\}$/);
    const before = steps.slice(0, steps.indexOf(readers[0] ?? {}));
    expect(before.filter(({ run }) => run)).toEqual([]); // Nothing that could replace the script.
  });

  test("publish needs all", () => expect(jobs.publish.needs).toEqual(["ci", "weekly", "build", "test"]));

  test("announce takes the files that publish chose, by their digest, when all else is published", () => {
    expect(jobs.announce.needs).toBe("publish");
    const [, check]: readonly Step[] = jobs.announce.steps;
    expect(check?.run).toMatch(/^echo "\$SHA256 {2}\S+\/announcement\.tar" \| sha256sum --check --strict\n/);
    expect(check?.env?.SHA256).toMatch(/^\$\{\{ needs\.publish\.outputs\.sha256 \}\}$/);
  });
});

describe.each(["publish", "announce"])("%s, before it gives anything a name", (name) => {
  const steps: readonly Step[] = parse(readText(`${FOLDER}/release.yml`)).jobs[name].steps;
  const at = steps.findIndex(({ run = "" }) => run.includes("gh api"));

  test.each([
    ["built", 0, ""],
    ["moved to another commit", 1, "The tag v1 was moved: it is not the commit built, which was built.\n"],
    ["", 1, "The tag v1 was moved: it is not the commit built, which was built.\n"],
  ])("looks whether the tag is the commit that was built: %j", async (commit, code, said) => {
    await using folder = await createTempFolder();
    writeFileSync(
      folder.at("gh"),
      `#!/bin/sh\n[ "$2" = repos/team/registrar/commits/tags/v1 ] && echo "${commit}"\n`,
      {
        mode: 0o755,
      },
    );
    const env = { PATH: `${folder.path}:${process.env.PATH}`, GITHUB_SHA: "built", GITHUB_REF_NAME: "v1" };
    const options = { encoding: "utf8", env: { ...env, GITHUB_REPOSITORY: "team/registrar" } } as const;
    const { status, stdout } = spawnSync("bash", ["-ec", steps[at]?.run ?? ""], options);
    expect([status, stdout]).toEqual([code, said]);
  });

  test("in an earlier step", () => {
    const naming = /\b(?:publish|package|release create)\b|subjects|attest/;
    expect(steps.findIndex(({ run = "", uses = "" }) => naming.test(`${run} ${uses}`))).toBeGreaterThan(at);
  });
});

test("a release tags the image after npm has the package", () => {
  const { jobs } = parse(readText(`${FOLDER}/release.yml`));
  const runs: readonly string[] = jobs.publish.steps.map(({ run = "", uses = "" }: Step) => run || uses);
  const wanted = [
    "sha256sum",
    "attest-build-provenance",
    "publish.mjs push",
    "publish.mjs sign",
    "package.mjs publish",
  ];
  const places = [...wanted, "publish.mjs tag"].map((words) => runs.findIndex((run) => run.includes(words)));
  expect(places).toEqual(places.toSorted((one, other) => one - other));
  expect(places[0]).toBeGreaterThanOrEqual(0);
});

/** Every value of such a key, at any depth. */
function valuesOf(tree: unknown, keys: readonly string[]): readonly string[] {
  if (typeof tree !== "object" || tree === null) return [];
  return Object.entries(tree).flatMap(([key, value]) =>
    typeof value === "string" && keys.includes(key) ? [value] : valuesOf(value, keys),
  );
}

describe("an image without a digest, which another may replace, ends a release before it begins", () => {
  test("ready.mjs finds every image that a workflow runs", async () => {
    await using folder = await createTempFolder();
    mkdirSync(folder.at(FOLDER), { recursive: true });
    writeFileSync(folder.at("Dockerfile"), "");
    const wanted = readdirSync(join(ROOT, FOLDER)).flatMap((name) => {
      const text = readText(`${FOLDER}/${name}`).replaceAll(/@sha256:[0-9a-f]{64}/g, "");
      writeFileSync(folder.at(FOLDER, name), text);
      const ofActions = valuesOf(parse(text), ["uses"]).filter((action) => action.startsWith("docker://"));
      const images = [...valuesOf(parse(text), ["image", "container"]), ...ofActions];
      return images.map((image) => `${FOLDER}/${name}: ${image.replace("docker://", "")} has no digest`);
    });
    const options = { cwd: folder.path, encoding: "utf8" } as const;
    for (const words of ["init --quiet", "add ."]) spawnSync("git", words.split(" "), options);
    const { stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/release/ready.mjs")], options);
    const found = stderr.match(/\.github\/workflows\/.* has no digest/g) ?? [];
    expect(found.toSorted()).toEqual([...new Set(wanted)].sort());
  });

  test("an action that runs an image names it", () => {
    const steps = JOBS.flatMap(({ steps = [] }) => steps).filter(({ uses }) => uses);
    for (const { uses = "", with: given } of steps)
      if (!ACTIONS.test(uses)) expect([uses, given?.image]).toEqual([uses, expect.any(String)]);
  });
});

test("Renovate reads every file that pins something, those of tests and examples, too", () => {
  const { extends: presets, ignorePresets, ignorePaths } = JSON.parse(readText(".github/renovate.json"));
  expect(presets).toContain("config:recommended");
  // Without it config:recommended leaves out test/ and examples/.
  expect(ignorePresets).toEqual([":ignoreModulesAndTests"]);
  expect(ignorePaths).toEqual(["**/node_modules/**"]);
});
