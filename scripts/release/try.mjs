// node scripts/release/try.mjs IMAGE PLATFORM...: copies the image of each platform (as skopeo names it: `oci:FOLDER`,
// `docker://REPOSITORY@DIGEST`) and runs it by runc, as root, confined as the DaemonSet in examples/ confines it: it must tell its version, judge a file, and register a
// driver with the simulated kubelet. Fails with what the image printed. Another architecture needs QEMU in binfmt_misc.
import { spawn, spawnSync } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { arch, tmpdir } from "node:os";
import { join } from "node:path";
import { readImage, unpack } from "./layout.mjs";

const { startCsiDriver, startKubelet } = createRequire(import.meta.url)("../../dist/testing.js");

const NAME = "disk.csi.example.com";
/** This machine, as images call it. */
const NATIVE = { x64: "amd64", ppc64: "ppc64le" }[arch()] ?? arch();
/** What ELF calls the architectures (`e_machine`). */
const MACHINES = { amd64: 62, arm64: 183, ppc64le: 21, s390x: 22 };
/** The least that a registrar needs. An emulator's own memory counts, too. */
const limitOf = (architecture) => (architecture === NATIVE ? 64 : 512);
const STARTED_WITHIN_MS = 120_000;
/** How many were started, for their names. */
let containers = 0;

const [reference, ...platforms] = process.argv.slice(2);
if (platforms.length === 0) throw new Error("name an image and platforms such as linux/amd64");
const folder = mkdtempSync(join(tmpdir(), "try-image-"));
try {
  for (const platform of platforms) await tryPlatform(platform);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function tryPlatform(platform) {
  const [os, architecture] = platform.split("/");
  const layout = join(folder, architecture);
  const pull = ["copy", "--quiet", `--override-os=${os}`, `--override-arch=${architecture}`];
  succeed(spawnSync("skopeo", [...pull, reference, `oci:${layout}`], { encoding: "utf8" }));
  const { config } = readImage(layout);
  if (config.architecture !== architecture) throw new Error(`${reference} has no image for ${platform}`);
  const root = join(layout, "root");
  unpack(layout, root);
  // This machine would run its own architecture's Node without QEMU, whatever the image says.
  const machine = machineOf(join(root, "nodejs/bin/node"));
  if (machine !== MACHINES[architecture])
    throw new Error(`${platform}: its Node is of another architecture, ELF's machine ${machine}`);
  const container = (args, input) =>
    startContainer({ root, architecture, config: config.config, args, input });

  const version = await container(["--version"]).ended;
  check(platform, "--version", version.code === 0 && / v\d/.test(version.output), version);
  const doctor = await container(["doctor", "-f", "-"], "examples/daemonset.yaml").ended;
  check(platform, "doctor -f", doctor.code === 0 && /No problem found/.test(doctor.output), doctor);

  const [csi, registration] = ["csi", "registration"].map((name) => join(layout, name));
  for (const path of [csi, registration]) mkdirSync(path);
  const driver = await startCsiDriver({ csiAddress: join(csi, "csi.sock"), name: NAME });
  const kubelet = await startKubelet({ pluginRegistrationPath: registration });
  const registrar = startContainer({
    ...{ root, architecture, config: config.config },
    args: ["--csi-address=/csi/csi.sock", `--kubelet-registration-path=${join(csi, "csi.sock")}`],
    mounts: { "/csi": [csi, "ro"], "/registration": [registration, "rw"] },
  });
  try {
    const registered = kubelet.registered(NAME, { timeoutMs: STARTED_WITHIN_MS });
    const ended = registrar.ended.then((end) =>
      Promise.reject(new Error(`it ended: ${JSON.stringify(end)}`)),
    );
    await Promise.race([registered, ended]).catch((error) =>
      Promise.reject(new Error(`${platform}: no registration: ${error.message}\n${registrar.output()}`)),
    );
    ended.catch(() => {});
    registrar.terminate();
    const end = await registrar.ended;
    check(platform, "registration", end.code === 0 && readdirSync(registration).length === 0, end);
  } finally {
    await kubelet.close();
    await driver.close();
  }
}

/** Runs the image's entry point in a container of runc: a read-only root, no capability, no network, a memory limit. */
function startContainer({ root, architecture, config, args, input, mounts = {} }) {
  containers += 1;
  const id = `try-image-${process.pid}-${containers}`;
  const bundle = join(folder, id);
  mkdirSync(bundle);
  for (const path of Object.keys(mounts)) mkdirSync(join(root, path), { recursive: true });
  const bind = ([path, [source, access]]) => ({
    destination: path,
    source,
    type: "bind",
    options: ["bind", access],
  });
  const proc = { destination: "/proc", type: "proc", source: "proc" };
  const dev = {
    destination: "/dev",
    type: "tmpfs",
    source: "tmpfs",
    options: ["nosuid", "mode=755", "size=64k"],
  };
  const spec = {
    ociVersion: "1.0.2",
    process: {
      user: { uid: 0, gid: 0 },
      args: [...config.Entrypoint, ...args],
      env: config.Env ?? [],
      cwd: "/",
      capabilities: { bounding: [], effective: [], permitted: [] },
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    mounts: [proc, dev, ...Object.entries(mounts).map(bind)],
    linux: {
      namespaces: ["pid", "network", "ipc", "uts", "mount"].map((type) => ({ type })),
      resources: { memory: { limit: limitOf(architecture) * 2 ** 20 } },
    },
  };
  writeFileSync(join(bundle, "config.json"), JSON.stringify(spec));
  const stdin = input === undefined ? "ignore" : openSync(input, "r");
  const child = spawn("runc", ["run", "--bundle", bundle, id], { stdio: [stdin, "pipe", "pipe"] });
  const chunks = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => chunks.push(chunk));
  const output = () => Buffer.concat(chunks).toString();
  const ended = new Promise((resolve, reject) => {
    child.once("error", reject).once("close", (code, signal) => resolve({ code, signal, output: output() }));
  });
  return {
    ended,
    output,
    terminate: () => succeed(spawnSync("runc", ["kill", id, "TERM"], { encoding: "utf8" })),
  };
}

function machineOf(program) {
  const header = Buffer.alloc(20); // Its sixth byte is 2 for big-endian.
  const file = openSync(program);
  readSync(file, header);
  closeSync(file);
  return header[5] === 2 ? header.readUInt16BE(18) : header.readUInt16LE(18);
}

function succeed({ error, status, stderr }) {
  if (error) throw error;
  if (status !== 0) throw new Error(stderr.trim());
}

function check(platform, what, isRight, { code, signal, output }) {
  if (!isRight) throw new Error(`${platform}: ${what} ended with ${code ?? signal}:\n${output}`);
  process.stdout.write(`${platform}: ${what} ok\n`);
}
