import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { arch } from "node:os";
import { join } from "node:path";
import { pulledLayers, releaseLocally } from "../test/image/support/local-release";
import { BASE_DATA } from "../test/image/support/stand-in-bases";
import { eventually } from "../test/support/eventually";
import { createTempFolder, type TempFolder } from "../test/support/temp-folder";
import type { Bench, Measurement } from "./bench";
import { grid } from "./figures";
import { interleave, median } from "./support/samples";

const ROUNDS = 5;
/** This machine, as images call it. */
const ARCHITECTURE = arch() === "x64" ? "amd64" : arch();
const OFFICIAL = "official/csi-node-driver-registrar";

/** An image in the registry. */
interface Pulled {
  readonly name: string;
  readonly repository: string;
  readonly reference: string;
}

/** The bytes and seconds of a pull from a registry on this machine, unpacked by containerd. */
export const pull: Measurement = {
  command: "npm run bench:pull",
  kubelets: () => [],
  run: async ({ node, official, say }) => {
    await using folder = await createTempFolder();
    say("building the image, as scripts/release does");
    const release = await releaseLocally(folder, { node, platforms: [`linux/${ARCHITECTURE}`] });
    try {
      const { host, digests, repositories } = release;
      release.script("publish.mjs", "push", folder.at("release"), ...repositories);
      const images: Pulled[] = Object.entries(digests).map(([compression, reference]) => ({
        ...{ name: `registrar, ${compression}`, repository: "team/registrar", reference },
      }));
      if (official !== undefined) {
        release.push(`${host}/${OFFICIAL}:1`, officialRoot(folder, official));
        images.push({ name: "official, gzip", repository: OFFICIAL, reference: "1" });
      }
      const seconds = await interleave(images, ROUNDS, (image, round) =>
        secondsOf(folder, host, image, round),
      );
      const rows = images.map(async (image) => {
        const layers = await pulledLayers(host, { ...image, architecture: ARCHITECTURE });
        const bytes = layers.reduce((sum, size) => sum + size, 0);
        return [image.name, inMb(bytes), layers.map(inMb).join(" + "), spread(seconds.get(image) ?? [])];
      });
      return grid(["image", "MB to pull", "its layers", "seconds"], await Promise.all(rows));
    } finally {
      await release.stop();
    }
  },
};

const inMb = (bytes: number) => (bytes / 1e6).toFixed(1);

function spread(seconds: readonly number[]): string {
  const [middle, least, most] = [median(seconds), Math.min(...seconds), Math.max(...seconds)];
  return `${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})`;
}

/** As the official Dockerfile does: distroless' static base and the program. */
function officialRoot(folder: TempFolder, { program: [path = ""] }: NonNullable<Bench["official"]>): string {
  const root = folder.at("official");
  for (const data of BASE_DATA.filter((one) => existsSync(one)))
    cpSync(data, join(root, data), { recursive: true, verbatimSymlinks: true });
  mkdirSync(root, { recursive: true });
  cpSync(path, join(root, "csi-node-driver-registrar"));
  return root;
}

/** One pull by a containerd that has nothing yet. */
async function secondsOf(
  folder: TempFolder,
  host: string,
  { repository, reference, name }: Pulled,
  round: number,
) {
  const at = folder.at("containerd", `${name.replace(/\W+/g, "-")}-${round}`);
  mkdirSync(at, { recursive: true });
  const address = join(at, "socket");
  const settings = { version: 2, root: join(at, "root"), state: join(at, "state") };
  const text = Object.entries(settings).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
  const grpc = `[grpc]\naddress = ${JSON.stringify(address)}\n`;
  writeFileSync(
    join(at, "config.toml"),
    `${text.join("")}disabled_plugins = ["io.containerd.grpc.v1.cri"]\n${grpc}`,
  );
  const daemon = spawn("containerd", ["--config", join(at, "config.toml")], { stdio: "ignore" });
  const ended = once(daemon, "close");
  const ctr = (...words: readonly string[]) =>
    spawnSync("ctr", ["--address", address, ...words], { encoding: "utf8" });
  try {
    await eventually(() => {
      if (ctr("version").status !== 0) throw new Error("containerd does not answer");
    });
    const separator = reference.startsWith("sha256:") ? "@" : ":";
    const image = `${host}/${repository}${separator}${reference}`;
    const startedAt = performance.now();
    const { status, stderr } = ctr("images", "pull", "--plain-http", image);
    const taken = (performance.now() - startedAt) / 1000;
    if (status !== 0) throw new Error(`${image} could not be pulled: ${stderr}`);
    return taken;
  } finally {
    daemon.kill();
    await ended;
  }
}
