// node scripts/release/notes.mjs vX.Y.Z: what CHANGELOG.md says of that release, and where IMAGE and SAME_IMAGE are. Fails if the tag, package.json and
// CHANGELOG.md do not name the same version, or if GITHUB_REPOSITORY is not the repository in package.json: npm refuses the
// provenance of any other.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [, , tag, folder = "."] = process.argv;

/** The text under a release's heading; undefined where there is none. */
function sectionOf(changelog, version) {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => text.startsWith(`[${version}] - `));
  return section?.slice(section.indexOf("\n")).trim();
}

const { version, homepage, bugs, repository } = JSON.parse(
  readFileSync(join(folder, "package.json"), "utf8"),
);
const { GITHUB_SERVER_URL = "https://github.com", GITHUB_REPOSITORY } = process.env;
const built = GITHUB_REPOSITORY && `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`;
/** The first field of package.json that names another repository than the one that builds; undefined outside of a workflow. */
const foreign =
  built &&
  Object.entries({
    "repository.url": [repository?.url, `git+${built}.git`],
    homepage: [homepage, built],
    "bugs.url": [bugs?.url, `${built}/issues`],
  }).find(([, [is, needed]]) => is !== needed);
const notes = sectionOf(readFileSync(join(folder, "CHANGELOG.md"), "utf8"), version);
const problem =
  tag !== `v${version}`
    ? `the tag is ${tag}, and package.json has version ${version}`
    : foreign
      ? `${foreign[0]} in package.json is ${foreign[1][0]}, and this repository needs ${foreign[1][1]}`
      : notes
        ? undefined
        : `CHANGELOG.md has nothing under a heading "[${version}] - the day"`;
if (problem) {
  process.stderr.write(`scripts/release/notes.mjs: ${problem}\n`);
  process.exitCode = 1;
} else {
  const { IMAGE, SAME_IMAGE } = process.env;
  const images =
    IMAGE && SAME_IMAGE ? `\nImage: \`${IMAGE}:${tag}\`\nThe same image: \`${SAME_IMAGE}:${tag}\`\n` : "";
  process.stdout.write(`${notes}\n${images}`);
}
