// Loaded first in each Node process of a test: jest's setupFiles, and NODE_OPTIONS, which processes inherit. Whoever lists `/proc` then
// sees the processes that the test started, and none of the machine's, such as a kubelet or registrars of kind on a laptop.
const { readFileSync } = require("node:fs");
const promises = require("node:fs/promises");

/** The worker that runs the test file; its children inherit the variable. */
process.env.REGISTRAR_TEST_WORKER ??= String(process.pid);

const parentOf = (pid) =>
  / \S (\d+) /.exec(readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\)/s, ""))?.[1];

function isOfTest(pid) {
  try {
    for (let one = pid; one !== undefined && one !== "0"; one = parentOf(one))
      if (one === process.env.REGISTRAR_TEST_WORKER) return true;
  } catch {
    // It has ended meanwhile.
  }
  return false;
}

const ofTests = Symbol.for("registrar.own-processes");
if (!promises.readdir[ofTests]) {
  const { readdir } = promises;
  promises.readdir = async function readdirOfTest(path, ...options) {
    const names = await readdir(path, ...options);
    return path === "/proc" ? names.filter((name) => !/^\d+$/.test(name) || isOfTest(name)) : names;
  };
  promises.readdir[ofTests] = true;
}
