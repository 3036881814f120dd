import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

interface Hierarchy {
  readonly mountPoint: string;
  readonly root: string;
  readonly options: readonly string[];
}

/** Makes a control group in each hierarchy; `hierarchies` is what enter-cluster.sh mounts, `NAME=OPTIONS`. */
export function makeClusterGroup(name: string) {
  const v1 = mounted("cgroup");
  return v1.some(({ options }) => options.includes("memory")) ? makeV1(name, v1) : makeV2(name);
}

function makeV1(name: string, hierarchies: readonly Hierarchy[]) {
  const own = new Map(
    linesOf("/proc/self/cgroup").map((line) => {
      const [, controllers = "", path = "/"] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
      return [controllers, path] as const;
    }),
  );
  const made = hierarchies.map(({ mountPoint, root, options }) => {
    const ofEach = /^(?:rw|ro|clone_children|xattr|release_agent=.*)$/;
    const controllers = options.filter((option) => !ofEach.test(option));
    const path = own.get(controllers.join()) ?? "/";
    const parent = join(mountPoint, path.startsWith(root) && root !== "/" ? path.slice(root.length) : path);
    const folder = join(parent, name);
    mkdirSync(folder);
    // A new group of this hierarchy has neither processors nor memory, and takes no process.
    if (controllers.includes("cpuset"))
      for (const file of ["cpuset.cpus", "cpuset.mems"])
        writeFileSync(join(folder, file), readFileSync(join(parent, file)));
    const [first = ""] = controllers;
    const mountOptions = first.startsWith("name=") ? ["none", first] : controllers;
    return { folder, hierarchy: `${first.replace("name=", "")}=${mountOptions}` };
  });
  return {
    version: 1,
    folders: made.map(({ folder }) => folder),
    hierarchies: made.map(({ hierarchy }) => hierarchy),
  };
}

/** Below the root of the hierarchy: only there may a group beside processes have controllers. */
function makeV2(name: string) {
  const [hierarchy] = mounted("cgroup2");
  if (!hierarchy) throw new Error("no cgroup hierarchy is mounted");
  const folder = join(hierarchy.mountPoint, name);
  const controllers = readFileSync(join(hierarchy.mountPoint, "cgroup.controllers"), "utf8")
    .trim()
    .split(" ");
  const all = controllers.map((controller) => `+${controller}`).join(" ");
  writeFileSync(join(hierarchy.mountPoint, "cgroup.subtree_control"), all);
  mkdirSync(folder);
  return { version: 2, folders: [folder], hierarchies: [] };
}

function mounted(type: "cgroup" | "cgroup2"): readonly Hierarchy[] {
  return linesOf("/proc/self/mountinfo").flatMap((line) => {
    const [before = "", after = ""] = line.split(" - ");
    const [, , , root = "/", mountPoint = ""] = before.split(" ");
    const [found, , options = ""] = after.split(" ");
    return found === type ? [{ mountPoint, root, options: options.split(",") }] : [];
  });
}

const linesOf = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n");

export function whyNoGroups(): string | undefined {
  try {
    const { folders } = makeClusterGroup(`registrar-probe-${process.pid}`);
    for (const folder of folders) rmdirSync(folder);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
