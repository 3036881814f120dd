// npm run charts -- --newest: compares src/tools/doctor/manifest/read/charts.json with what GitHub has now. It needs the network, and for
// all rows GITHUB_TOKEN: without one GitHub answers 60 requests an hour. Exit codes: 0 the rows are of the newest charts, 1 a row
// is not, 3 something could not be read.
const API = process.env.GITHUB_API_URL ?? "https://api.github.com";
const token = process.env.GITHUB_TOKEN;
const headers = token ? { authorization: `Bearer ${token}` } : {};

async function ask(path, accept = "application/vnd.github+json") {
  const url = `${API}/repos/${path}`;
  const answer = await fetch(url, { headers: { ...headers, accept }, signal: AbortSignal.timeout(30_000) });
  if (!answer.ok) throw new Error(`${answer.status} for ${url}`);
  return answer;
}
const json = async (path) => (await ask(path)).json();

/** Why the row is not of the newest chart; undefined if it is. */
async function changeOf({ version, date, source }) {
  const [repository, path] = source.split(" ");
  const { archived, full_name } = await json(repository);
  if (archived) return "its project is archived: remove the row";
  if (full_name !== repository) return `its project is ${full_name} now`;
  if (version.startsWith("commit ")) {
    const [newest] = await json(`${repository}/commits?path=${encodeURIComponent(path)}&per_page=1`);
    if (newest === undefined) return `${path} is gone`;
    const changed = newest.commit.committer.date.slice(0, 10);
    return changed > date ? `${path} changed on ${changed}, in ${newest.sha.slice(0, 7)}` : undefined;
  }
  const newest = await newestVersion(repository, path, version);
  return newest === version ? undefined : `${newest} is there`;
}

/** Some projects have a folder for each version. */
async function newestVersion(repository, path, version) {
  const [parent, rest] = path.split(`/v${version}/`);
  if (rest !== undefined) {
    const names = (await json(`${repository}/contents/${parent}`)).map(({ name }) => name);
    const versions = names.filter((name) => /^v\d+\.\d+\.\d+$/.test(name)).map((name) => name.slice(1));
    return versions.sort((a, b) => a.localeCompare(b, "en", { numeric: true })).at(-1);
  }
  const chart = await ask(`${repository}/contents/${path}/Chart.yaml`, "application/vnd.github.raw+json");
  return /^version: *["']?v?([^\s"']+)/m.exec(await chart.text())?.[1];
}

/** Resolves with the exit code. */
export async function compareCharts(rows) {
  const told = { changed: 0, unread: 0 };
  for (const row of rows) {
    const tell = (kind, what) => {
      told[kind]++;
      process.stdout.write(`${row.chart} ${row.version} of ${row.date}: ${what}\n`);
    };
    try {
      const change = await changeOf(row);
      if (change !== undefined) tell("changed", change);
    } catch (error) {
      tell("unread", `not compared: ${error.cause?.message ?? error.message}`);
    }
  }
  process.stdout.write(`${rows.length} rows: ${told.changed} to verify again, ${told.unread} not compared\n`);
  return told.unread > 0 ? 3 : Math.min(told.changed, 1);
}
