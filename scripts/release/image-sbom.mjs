// What is in the image, as a CycloneDX list: the packages of the bundle (dist/sbom.cdx.json), Node, and the Debian packages.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Lists the contents of the image by its root folders, one of each platform. */
export function imageSbom(roots) {
  const list = JSON.parse(readFileSync("dist/sbom.cdx.json", "utf8"));
  const inside = roots.flatMap((root) => [nodeIn(root), ...debianIn(root)]);
  const known = new Map(inside.map((component) => [component["bom-ref"], component]));
  list.components.push(...known.values());
  return `${JSON.stringify(list, null, 2)}\n`;
}

/** Node has the address of its source in the program, so that the version of another architecture's can be read, too. */
function nodeIn(root) {
  const address = "release/v[0-9.]+/node-v";
  const text = execFileSync("grep", ["-aoEm1", address, join(root, "nodejs/bin/node")], { encoding: "utf8" });
  const [version] = /[0-9]+[.][0-9]+[.][0-9]+/.exec(text) ?? [];
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  return { ...component("node", version, `pkg:generic/node@${version}`), cpe };
}

function debianIn(root) {
  const folder = join(root, "var/lib/dpkg/status.d");
  const files = readdirSync(folder).filter((name) => !name.endsWith(".md5sums"));
  return files.map((name) => {
    const text = readFileSync(join(folder, name), "utf8");
    const field = (key) => new RegExp(`^${key}: (.*)$`, "m").exec(text)?.[1];
    const [named, version, arch] = ["Package", "Version", "Architecture"].map(field);
    return component(named, version, `pkg:deb/debian/${encodeURIComponent(named)}@${version}?arch=${arch}`);
  });
}

const component = (name, version, purl) => ({ type: "application", name, version, "bom-ref": purl, purl });
