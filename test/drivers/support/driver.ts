import { DRIVER, type TestNode } from "../../end-to-end/support/node";
import { startReadyProcess } from "../../support/child-process";
import { DRIVER_SERVERS } from "./servers";

/** What a driver is to be and to do; its flags, README.md has them. */
interface DriverOptions {
  readonly nodeId?: string;
  readonly vendorVersion?: string;
  readonly manifest?: Readonly<Record<string, string>>;
  readonly responseBytes?: number;
  readonly error?: string;
  readonly delayMs?: number;
  readonly times?: number;
  readonly headersFirst?: boolean;
  readonly maxConnectionAgeMs?: number;
}

interface Event {
  readonly event: "started" | "called";
  readonly method?: string;
  readonly authority?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** `start` starts the driver of a node. */
export function inEachLanguage(
  tests: (start: (node: TestNode, options?: DriverOptions) => ReturnType<typeof startDriver>) => void,
): void {
  describe.each(DRIVER_SERVERS)("a driver in $language, with $library,", ({ prepare }) => {
    let command: readonly string[];
    beforeAll(async () => {
      command = await prepare();
    });
    tests((node, options = {}) => startDriver(command, node, options));
  });
}

async function startDriver(command: readonly string[], { csiAddress }: TestNode, options: DriverOptions) {
  const [program = "", ...words] = [...command, "--socket", csiAddress, "--name", DRIVER];
  const driver = await startReadyProcess<Event>(program, [...words, ...flagsOf(options)]);
  const isAsked = ({ method }: Event) => method === "GetPluginInfo";
  return {
    asked: () => driver.stdout.all().filter(isAsked),
    askedTimes: async (nth: number) => {
      let times = 0;
      await driver.stdout.waitFor((event) => isAsked(event) && ++times === nth);
    },
    ...{ kill: driver.kill, close: driver.close },
    [Symbol.asyncDispose]: driver.close,
  };
}

function flagsOf({ manifest = {}, headersFirst = false, ...others }: DriverOptions): readonly string[] {
  const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return [
    ...Object.entries(others).flatMap(([name, value]) => [`--${kebab(name)}`, String(value)]),
    ...Object.entries(manifest).flatMap(([key, value]) => ["--manifest", `${key}=${value}`]),
    ...(headersFirst ? ["--headers-first"] : []),
  ];
}
