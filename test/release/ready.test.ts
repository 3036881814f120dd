import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../docs/markdown";
import { createTempFolder } from "../support/temp-folder";

const PINNED = `ARG BUILD_IMAGE=node:26@sha256:${"a".repeat(64)}\nARG RUNTIME_IMAGE=base@sha256:${"b".repeat(64)}\n`;
const NAMES = { IMAGE: "registry.test/team/registrar", IMAGE_REGISTRY: "registry.test", IMAGE_USER: "robot" };

const WORKFLOW = `jobs:
  image:
    container: a/one
    services: { db: {} }
    steps:
      - uses: docker://b/two:1
      - uses: actions/checkout@1
      - with:
          image: c/three # as it is today
      - with:
          image: pinned:1@sha256:${"c".repeat(64)}
      - image: d/four@sha256:abc
      - image: d/four
`;

test.each<[string, string, string, NodeJS.ProcessEnv, readonly string[]]>([
  [
    "is what it must be",
    PINNED,
    "a driver, disk.example.com, and a taint, example.com/agent-not-ready",
    NAMES,
    [],
  ],
  [
    "has a base without a digest",
    PINNED.replace(/@sha256:b+/, ":latest"),
    "",
    NAMES,
    ["Dockerfile: RUNTIME_IMAGE has no digest: write IMAGE@sha256:DIGEST"],
  ],
  [
    "has a page with a placeholder",
    PINNED,
    "docker pull example.com/registrar:v1",
    NAMES,
    ["docs/page.md names example.com in place of this project's address"],
  ],
  [
    "is in a repository without a variable",
    PINNED,
    "",
    { ...NAMES, IMAGE: "" },
    ["the variable IMAGE of the repository is not set"],
  ],
  [
    "has workflows that run images without a digest",
    PINNED,
    "",
    NAMES,
    ["a/one", "b/two:1", "c/three", "d/four"].map(
      (image) => `.github/workflows/ci.yml: ${image} has no digest: write IMAGE@sha256:DIGEST`,
    ),
  ],
])("ready.mjs judges a commit that %s", async (what, dockerfile, page, names, problems) => {
  await using folder = await createTempFolder();
  const cwd = folder.path;
  mkdirSync(folder.at("docs"));
  mkdirSync(folder.at(".github", "workflows"), { recursive: true });
  writeFileSync(folder.at(".github", "workflows", "ci.yml"), what.includes("workflows") ? WORKFLOW : "");
  writeFileSync(folder.at("docs", "page.md"), page);
  writeFileSync(folder.at("Dockerfile"), dockerfile);
  for (const words of [
    ["init", "--quiet"],
    ["add", "."],
  ])
    spawnSync("git", words, { cwd });
  const env = { PATH: process.env.PATH, ...names };
  const words = [join(ROOT, "scripts/release/ready.mjs")];
  const { stderr, status } = spawnSync(process.execPath, words, { cwd, env, encoding: "utf8" });
  expect(stderr).toBe(problems.map((problem) => `scripts/release/ready.mjs: ${problem}\n`).join(""));
  expect(status).toBe(problems.length === 0 ? 0 : 1);
});
