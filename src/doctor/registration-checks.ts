import { explainSilence } from "../registrar/registration/hints";
import { type Check, check, ok, problem, unknown, type Verdict, warning } from "./finding";
import { duplicates, endpoints, others, registration, versions } from "./registration-situations";

const NO_CONNECTION = { accepted: 0, open: 0, cutBeforeCall: 0, rejected: 0 };
const CORRECT_PATH =
  "correct the registrar's --kubelet-registration-path and the hostPath of the driver's folder";
const REACH_IT =
  "run as root, as kubelet does; what is too long or no plain path for us is so for kubelet too";
const SEE_REGISTRAR = "see the log of its registrar";

/** The sockets in the registration directory, asked as kubelet asks them. */
export const REGISTRATION_CHECKS: readonly Check[] = [
  check("registration", registration, {
    registered: ({ name, path }) => ok(name, `is registered with kubelet, says its registrar on ${path}`),
    untold: ({ name, path }) =>
      unknown(
        name,
        `has a registrar on ${path} that does not tell whether kubelet registered it`,
        "kubectl get csinode NODE -o yaml lists the drivers that kubelet registered",
      ),
    refused: ({ name }) =>
      problem(
        name,
        "was refused by kubelet",
        `${SEE_REGISTRAR} for kubelet's reason, or kubectl describe pod`,
      ),
    "not-called": ({ name, path, directory }) =>
      problem(
        name,
        `is announced on ${path}, but kubelet does not call`,
        explainSilence(directory, NO_CONNECTION),
      ),
    "on-its-way": ({ name, state }) =>
      warning(
        name,
        `is not registered yet: its registrar is ${state}`,
        `look again in a while, and ${SEE_REGISTRAR}`,
      ),
    none: ({ name, directory }) =>
      problem(
        name,
        `has no registration socket in ${directory}`,
        "see whether its registrar runs, and whether its --plugin-registration-path leads here",
      ),
    nobody: ({ directory }) =>
      unknown(directory, "has no registration socket on which a CSI driver's registrar answers"),
    dead: ({ path }) =>
      problem(
        path,
        "was left behind: nobody listens on it",
        "start the registrar, which replaces it, or see why it ended",
      ),
    silent: ({ path }) =>
      problem(path, "does not answer GetInfo in time, as kubelet asks it to", SEE_REGISTRAR),
    failing: ({ path, code, message }) => problem(path, `fails GetInfo: ${code}: ${message}`, SEE_REGISTRAR),
    blocked: ({ path, fileType }) =>
      problem(path, `is ${fileType} in the place of a socket: the registrar cannot use it`, "remove it"),
    unreachable: ({ path, why }) => problem(path, `cannot be reached: ${why}`, REACH_IT),
    nameless: () =>
      unknown("the CSI driver", "has no known name: which registration socket is its own cannot be told"),
  }),

  check("registration-endpoint", endpoints, {
    right: ({ isPatients, name, endpoint }) =>
      isPatients && ok(name, `is where kubelet is told: ${endpoint}`),
    "out-of-sight": ({ isPatients, name, endpoint }) =>
      isPatients && unknown(name, `is said to be at ${endpoint} on the host, which cannot be seen from here`),
    differs: ({ name, endpoint, told }) =>
      problem(name, `is said to be at ${endpoint}, not at ${told}`, CORRECT_PATH),
    "no-path": ({ isPatients, name, endpoint }) =>
      bad(isPatients, name, `is said to be at "${endpoint}", which is no absolute path`, CORRECT_PATH),
    unusable: ({ isPatients, name, endpoint, why }) =>
      bad(isPatients, name, `is said to be at ${endpoint}: ${why}`, CORRECT_PATH),
    "no-driver": ({ isPatients, name, endpoint }) =>
      bad(isPatients, name, `is said to be at ${endpoint}, which answers no GetPluginInfo`, CORRECT_PATH),
    "other-driver": ({ isPatients, name, endpoint, other }) =>
      bad(isPatients, name, `is said to be at ${endpoint}, where the driver ${other} answers`, CORRECT_PATH),
  }),

  check("registration-versions", versions, {
    accepted: ({ name, versions }) =>
      ok(name, `offers versions that kubelet accepts: ${versions.join(", ")}`),
    "of-others": null,
    refused: ({ isPatients, name, why }) =>
      bad(isPatients, name, `offers versions that kubelet refuses: ${why}`, "offer 1.0.0, as registrars do"),
  }),

  check("registration-duplicates", duplicates, {
    one: ({ isPatients, name }) => isPatients && ok(name, "has one living registration socket"),
    several: ({ isPatients, name, paths }) =>
      bad(
        isPatients,
        name,
        `has ${paths.length} living registration sockets: ${paths.join(", ")}; kubelet refuses all but one, and when any goes the driver is deregistered`,
        "leave one registrar to each driver on a node: look for a second DaemonSet",
      ),
  }),

  check("other-registrations", others, {
    answering: ({ names }) => ok(names.join(", "), names.length === 1 ? "answers too" : "answer too"),
    dead: ({ path }) =>
      warning(
        path,
        "was left behind: nobody listens on it, and kubelet tries it again and again",
        "remove it if its driver is gone for good",
      ),
    silent: ({ path }) => warning(path, "does not answer GetInfo in time", SEE_REGISTRAR),
    failing: ({ path, code, message }) => warning(path, `fails GetInfo: ${code}: ${message}`, SEE_REGISTRAR),
    blocked: ({ path, fileType }) => warning(path, `is ${fileType} in the place of a socket`, "remove it"),
    unreachable: ({ path, why }) => unknown(path, `cannot be reached: ${why}`, REACH_IT),
    "unknown-type": ({ path, type }) =>
      warning(
        path,
        `is of type "${type}", for which kubelet has no handler`,
        "remove the plugin, or correct its type",
      ),
  }),
];

/** A problem of the patient; of another driver, worth a warning. */
function bad(isPatients: boolean, subject: string, text: string, cure: string): Verdict {
  return isPatients ? problem(subject, text, cure) : warning(subject, text, cure);
}
