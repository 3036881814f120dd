// node add-version.mjs X.Y.Z [MODULE=VERSION ...]: writes program/versions/X.Y.Z.mod and .sum, from which that kubelet
// builds. A staging module whose release X.Y.Z the module proxy does not have can be named with another version.
import { execFileSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [version = "", ...exceptions] = process.argv.slice(2);
if (!/^1\.\d+\.\d+$/.test(version)) {
  throw new Error("usage: node add-version.mjs X.Y.Z [MODULE=VERSION ...], X.Y.Z a Kubernetes release");
}
const pinned = new Map(exceptions.map((exception) => exception.split("=")));
const program = join(import.meta.dirname, "program");
const modFile = join("versions", `${version}.mod`);

function go(...args) {
  const stdio = ["ignore", "pipe", "inherit"];
  return execFileSync("go", args, { cwd: program, encoding: "utf8", maxBuffer: 1 << 26, stdio });
}

// Kubernetes develops its staging modules in its own tree; outside of it, the release with the same numbers is meant.
// What else Kubernetes replaces is taken over, so that kubelet runs with the libraries that it ships with.
function replacement({ Old: old, New: target }) {
  const staging = target.Path.startsWith("./staging/");
  const path = staging ? old.Path : target.Path;
  const release = staging ? (pinned.get(path) ?? `v0.${version.slice(2)}`) : target.Version;
  return `\t${old.Path}${old.Version ? ` ${old.Version}` : ""} => ${path} ${release}`;
}

const { GoMod } = JSON.parse(go("mod", "download", "-json", `k8s.io/kubernetes@v${version}`));
const kubernetes = JSON.parse(go("mod", "edit", "-json", GoMod));
const lines = [
  "module registrar/test/kubelet",
  "",
  `go ${kubernetes.Go}`,
  "",
  `require k8s.io/kubernetes v${version}`,
  "",
  "replace (",
  ...kubernetes.Replace.map(replacement),
  ")",
  "",
];
writeFileSync(join(program, modFile), lines.join("\n"));
rmSync(join(program, modFile.replace(/mod$/, "sum")), { force: true });

// Resolving the packages that the programs import fills in the rest; the tags are those of support/build.ts.
const minor = Number(version.split(".")[1]);
const tags = Array.from({ length: minor }, (_, index) => `kubelet1.${index + 1}`).join();
go("list", "-mod=mod", `-modfile=${modFile}`, `-tags=${tags}`, "-deps", "./...");
