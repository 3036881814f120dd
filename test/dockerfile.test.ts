import { spawnSync } from "node:child_process";
import { ROOT, readText } from "./docs/markdown";

const lines = readText("Dockerfile")
  .replaceAll("\\\n", " ")
  .replace(/\$\{(\w+)\}/g, "$$$1")
  .split("\n")
  .filter((line) => line !== "" && !line.startsWith("#"));
const words = (instruction: string) =>
  lines.filter((line) => line.startsWith(`${instruction} `)).map((line) => line.split(/\s+/).slice(1));

test("every base is an argument, so that another registry or another Node needs no change here", () => {
  const bases = words("FROM").map((from) => from.filter((word) => !word.startsWith("--"))[0]);
  expect(bases).toEqual(["$BUILD_IMAGE", "$BUILD_IMAGE", "$BUILD_IMAGE", "$RUNTIME_IMAGE"]);
});

test("every base, and every image that a workflow runs, is pinned by its digest", () => {
  const words = ["scripts/release/ready.mjs"];
  const { stderr } = spawnSync(process.execPath, words, {
    cwd: ROOT,
    env: { PATH: process.env.PATH },
    encoding: "utf8",
  });
  expect(stderr).toContain("ready.mjs: the variable IMAGE of the repository is not set");
  expect(stderr).not.toContain("has no digest");
});

test("one recipe builds every architecture: only the code cache is made by the image's own Node", () => {
  expect(words("FROM")[0]).toEqual(["--platform=$BUILDPLATFORM", "$BUILD_IMAGE", "AS", "build"]);
  expect(words("FROM")[2]).toEqual(["$BUILD_IMAGE", "AS", "cache"]);
  expect(words("COPY")).toContainEqual(["--from=node", "/node/nodejs", "/nodejs"]);
  expect(words("COPY")).toContainEqual(["--from=node", "/node", "/"]);
  expect(lines.join("\n")).not.toMatch(/amd64|arm64|x86|aarch|ppc64|s390|TARGETARCH/);
});

test(".dockerignore sends the builder what the Dockerfile copies, and nothing else", () => {
  const taken = words("COPY")
    .filter(([first = ""]) => !first.startsWith("--"))
    .flatMap((paths) => paths.slice(0, -1));
  const sent = readText(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  expect(readText(".dockerignore").split("\n")).toContain("*");
  expect(sent.sort()).toEqual(taken.sort());
});
