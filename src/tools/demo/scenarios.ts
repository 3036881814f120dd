import type { CsiNodeObject } from "../../simulator/kubelet/objects";
import type { Play } from "./play";
import { DRIVER_NAME, IN_CONTAINER, type Sign } from "./stage";

interface Scenario {
  readonly title: string;
  /** What a newcomer must know to follow it. */
  readonly about: string;
  /** Begins with a registered driver, except for `registration`. */
  play(play: Play): Promise<void>;
}

const listening: Sign = { role: "driver", kind: "listening" };
const asked: Sign = { role: "driver", kind: "answered", method: "GetPluginInfo" };
const published: Sign = { role: "registrar", to: "listening" };
const seen: Sign = { role: "kubelet", kind: "socket-seen" };
const introduced: Sign = { role: "kubelet", kind: "called", call: "GetInfo" };
const listed: Sign = { role: "kubelet", kind: "csi-node-changed" };
export const notified: Sign = { role: "kubelet", kind: "called", call: "NotifyRegistrationStatus" };
const deregistered: Sign = { role: "kubelet", kind: "deregistered" };

/** The driver in CSINode, a field a line. */
function driverIn({ csiNode }: Sign): readonly string[] {
  const { metadata, spec } = csiNode as CsiNodeObject;
  const fields = Object.entries(spec.drivers[0] ?? {}).map(
    ([name, value]) => `- ${name}: ${JSON.stringify(value)}`,
  );
  return [`CSINode ${metadata.name}, spec.drivers:`, ...fields];
}

const registeredSince = (gone: Sign) => (back: Sign) => {
  const seconds = ((Number(back.atMs) - Number(gone.atMs)) / 1000).toFixed(1);
  return `Kubelet has registered the driver again, after ${seconds} s without it.`;
};

/** What doctor says of CSI007, as JSON. */
const FINDING = /"code":\s*"CSI007".*?"text":\s*"(.*?)",.*?"fix":\s*"(.*?)"/s;

/** Measured: docs/measurements.md, Failures. */
export const NOT_BACK = "no driver in 120 s (measured by npm run bench:reliability)";

export const SCENARIOS: Readonly<Record<string, Scenario>> = {
  registration: {
    title: "A driver is registered, from its start to the CSINode object",
    about:
      "Before kubelet can mount a CSI driver's volumes, it must know that the driver exists and where it listens. The " +
      "registrar runs beside the driver and tells kubelet. There are two sockets: the driver's and the registrar's.",
    async play({ step, note }) {
      await step(listening, `The CSI driver listens on its socket, plugins/${DRIVER_NAME}/csi.sock.`);
      await step(asked, `The registrar asks the driver for its name (GetPluginInfo): ${DRIVER_NAME}.`);
      const socket = `plugins_registry/${DRIVER_NAME}-reg.sock`;
      await step(seen, `The registrar puts its own socket where kubelet looks: ${socket}.`);
      await step(
        introduced,
        "Kubelet, which looks once a second, asks the registrar (GetInfo) for the driver's name and socket.",
      );
      const written = await step(
        listed,
        "Kubelet asks the driver itself for its node ID (NodeGetInfo), and writes the CSINode object.",
      );
      await step(notified, "Kubelet tells the registrar (NotifyRegistrationStatus): registered.");
      note(...driverIn(written));
    },
  },
  refused: {
    title: "Kubelet refuses the driver: a path of the container",
    about:
      "This is the most common refusal. Kubelet dials the driver's socket on the host, where a path of the registrar's " +
      "container means nothing: --kubelet-registration-path must be the host's path.",
    async play({ deed, end, start, step, outputOf }) {
      const wrong = [`--kubelet-registration-path=${IN_CONTAINER}`];
      await deed(`The demo stops the registrar, and starts it with ${wrong}.`, async () => {
        await end("registrar", "SIGTERM");
        start("registrar", { more: wrong, mayEnd: true });
      });
      await step(
        { role: "kubelet", kind: "refused" },
        ({ error }) => `Kubelet refuses the driver, and tells the registrar why: ${error}`,
      );
      await step(
        {
          role: "registrar",
          msg: "Registration process failed with error, restarting registration container",
        },
        ({ hint }) => `The registrar logs that with a hint: ${hint}`,
      );
      await step(
        { role: "registrar", kind: "ended", code: 1 },
        "It ends with exit code 1, as the official registrar does. In a pod that is CrashLoopBackOff.",
      );
      await deed("The demo runs registrar doctor with the same flags.", () =>
        start("doctor", { mayEnd: true }),
      );
      await step({ role: "doctor", kind: "ended", code: 1 }, () => {
        const [, text, fix] = FINDING.exec(outputOf("doctor")) ?? [];
        return `Doctor finds CSI007: ${IN_CONTAINER} ${text}. Fix: ${fix}`;
      });
      await deed("The demo starts the registrar with the path of the host.", () => start("registrar"));
      await step(notified, "Kubelet has registered the driver.");
    },
  },
  "socket-deleted": {
    title: "The registration socket is deleted",
    about:
      "When a registration socket is gone, kubelet deregisters its driver. Cleanup scripts delete sockets, and so do " +
      "other registrars when they stop. This registrar watches its socket and puts it back.",
    async play({ deed, deleteRegistrationSocket, step, note }) {
      await deed("The demo deletes the registration socket.", deleteRegistrationSocket);
      await step(
        { role: "registrar", reason: "socket-gone" },
        "The registrar notices that its socket is gone.",
      );
      await step(published, "The socket is back.");
      const gone = await step(
        deregistered,
        "To kubelet a new socket is a new plugin: it deregisters the driver and takes it out of CSINode.",
      );
      await step(notified, registeredSince(gone));
      note(`The official registrar v2.17 does not notice: ${NOT_BACK}.`);
    },
  },
  "driver-restart": {
    title: "The driver crashes and comes back",
    about:
      "Kubelet dials the driver again for each call, so a driver that is back on the same socket needs no new " +
      "registration. The registrar sees the driver go and come back, and leaves its own socket in place.",
    async play({ deed, end, start, step, calm }) {
      await deed(
        "The demo kills the driver. Its socket file stays behind, and no process listens on it.",
        () => end("driver", "SIGKILL"),
      );
      await calm(
        deregistered,
        "Kubelet has not deregistered the driver, because the registration socket is there.",
      );

      await deed("The demo starts the driver again.", () => start("driver"));
      await step(listening, "The CSI driver listens again.");
      await step(asked, "The registrar has asked for its name again: it is the same.");
      await calm(deregistered, "The driver is still registered, and was so all the time.");
    },
  },
  "second-registrar": {
    title: "A second registrar comes and goes",
    about:
      "In a rolling update two pods of one driver can overlap. Both registrars want the same socket path. The newer " +
      "one gets it. The older one leaves it alone, even when it stops, and takes over when the newer one is gone.",
    async play({ deed, start, end, step, note }) {
      const role = "second registrar";
      await deed("The demo starts a second registrar with the same flags.", () => start(role));
      await step(
        { role, to: "listening" },
        "The second registrar asks for the driver's name and replaces the first registrar's socket with its own.",
      );
      await step(
        { role: "registrar", to: "standby" },
        "The first registrar sees that another registrar has taken its place, and stands by.",
      );
      await step(notified, "Kubelet has registered the driver again, now through the second registrar.");

      const stop = () => end(role, "SIGTERM");
      await deed("The demo stops the second registrar, which removes its socket.", stop);
      await step({ role: "registrar", from: "standby" }, "The first registrar sees that the second is gone.");
      await step(published, "It puts its own socket back.");
      const gone = await step(
        deregistered,
        "Kubelet deregisters the driver, because the second registrar's socket is gone.",
      );
      await step(notified, registeredSince(gone));
      note(`An older official registrar v2.17 does not come back: ${NOT_BACK}.`);
    },
  },
  "kubelet-restart": {
    title: "Kubelet restarts",
    about:
      "A kubelet that has just started knows no driver. It scans its plugin registration directory and asks every registrar " +
      "that it finds there, so the registrar must answer again, at any time.",
    async play({ deed, end, start, step }) {
      await deed("The demo kills kubelet.", () => end("kubelet", "SIGKILL"));
      await deed("The demo starts a new kubelet.", () => start("kubelet"));
      await step(seen, "The new kubelet finds the registration socket.");
      await step(introduced, "It asks the registrar (GetInfo), which answers as if for the first time.");
      await step(notified, "The driver is registered again.");
    },
  },
};
