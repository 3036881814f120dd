import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { run as runTool, succeeded } from "../../support/child-process";

/** `prepare` builds for up to a minute, unless it was built before, and resolves with the command to which flags are added. */
export const DRIVER_SERVERS = [
  { language: "Go", library: "grpc-go", prepare: buildGo },
  { language: "Python", library: "grpcio", prepare: installPython },
  { language: "Rust", library: "tonic", prepare: buildRust },
] as const;

const FOLDER = join(__dirname, "..");
const BUILT = join(FOLDER, "built");

async function buildGo(): Promise<readonly string[]> {
  const program = join(BUILT, "go", "csi-driver");
  const options = { folder: "go", env: { CGO_ENABLED: "0", GOWORK: "off" } };
  await run("go", ["build", "-mod=readonly", "-trimpath", "-buildvcs=false", "-o", program, "."], options);
  return [program];
}

async function buildRust(): Promise<readonly string[]> {
  const target = join(BUILT, "rust");
  await run("cargo", ["build", "--locked", "--quiet", "--target-dir", target], { folder: "rust" });
  return [join(target, "debug", "csi-driver")];
}

/** A virtual environment with what requirements.txt names; once it is complete, a file in it says of what it was made. */
async function installPython(): Promise<readonly string[]> {
  const environment = join(BUILT, "python");
  const python = join(environment, "bin", "python");
  const requirements = join(FOLDER, "python", "requirements.txt");
  const stamp = join(environment, "made-of.txt");
  const madeOf = (await run("python3", ["--version"])) + (await readFile(requirements, "utf8"));
  if ((await readFile(stamp, "utf8").catch(() => "")) !== madeOf) {
    await rm(environment, { recursive: true, force: true });
    await mkdir(BUILT, { recursive: true });
    await run("python3", ["-m", "venv", environment]);
    const options = ["--quiet", "--disable-pip-version-check", "--only-binary=:all:", "--no-deps"];
    await run(python, ["-m", "pip", "install", ...options, "--requirement", requirements]);
    await writeFile(stamp, madeOf);
  }
  return [python, join(FOLDER, "python", "server.py")];
}

async function run(tool: string, args: readonly string[], { folder = "", env = {} } = {}): Promise<string> {
  const options = { cwd: join(FOLDER, folder), env, lifeMs: 600_000 };
  return succeeded(await runTool(tool, args, options)).stdout;
}
