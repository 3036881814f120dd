// node scripts/release-notes.mjs vX.Y.Z: what CHANGELOG.md says of that release. Fails where the tag, package.json and
// CHANGELOG.md do not name the same version.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [, , tag, folder = "."] = process.argv;

/** The text under a release's heading; undefined where there is none. */
function sectionOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}] - `));
  return section?.slice(section.indexOf("\n")).trim();
}

const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const notes = sectionOf(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), version);
const problem =
  tag !== `v${version}`
    ? `the tag is ${tag}, and package.json has version ${version}`
    : notes
      ? undefined
      : `CHANGELOG.md has nothing under a heading "[${version}] - the day"`;
if (problem) {
  process.stderr.write(`release-notes: ${problem}\n`);
  process.exitCode = 1;
} else {
  process.stdout.write(`${notes}\n`);
}
