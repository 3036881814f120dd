import { basename, dirname, normalize } from "node:path/posix";
import { registrationSocketPath } from "../../../../registrar/model/socket-name";
import { fitsSocketPath, MAX_SOCKET_PATH_BYTES } from "../../../../unix/socket-path";
import type { Verdict, Verdicts } from "../../findings/finding";
import { directoryFor, KNOWN_DIRECTORIES, registryOf, rootIn } from "../../findings/registration-directory";
import { doubted, type Group, ifYes, type SeenList, type Text, withheld, words } from "../../findings/seen";
import { namedText, tooLong } from "../../findings/words";
import { mountOf, onHost, onHosts } from "../read/pod";
import type { RegistrarContainer } from "../read/registrars";
import type { ParsedSettings } from "../read/settings";
import { eachRegistrar, ok, problem, unknown, warning } from "./each-registrar";

import {
  isReadOnly,
  isRelative,
  judgeMount,
  judgeRelative,
  LINKED,
  mayBeLinked,
  undeclared,
  unfilledDirectory,
} from "./mounts";

/** By the CSI specification; nearly every driver's directory has its name. One without a dot is rather a word of something else. */
const DRIVER_NAME = /^(?=.{1,63}$)[a-z0-9][-a-z0-9]*(?:\.[-a-z0-9]+)+$/i;

export const manifestRegistrationDirectory = eachRegistrar(
  "CSI103",
  "manifest-registration-directory",
  (one) => [
    judgeRefused(one.refused),
    one.settings.map(({ parsed }) => parsed.map((its) => judgeRegistrationDirectory(one, its))),
  ],
);

const refuse = (text: Text, fix: string) => problem(words`${text}: the API server refuses it`, fix);
const judgeRefused = (refused: RegistrarContainer["refused"]) => [
  refused.pathless.map((volume) =>
    refuse(`mounts the volume ${volume} without a mountPath`, "add its mountPath"),
  ),
  refused.backsteps.map((path) => refuse(`has the path ${path}, with a ..`, `write ${normalize(path)}`)),
  refused.mountedTwice.map((path) => refuse(`has two mounts at ${path}`, "leave one of them")),
  refused.namedTwice.map((name) => refuse(`has two volumes of the name ${name}`, "leave one of them")),
  refused.absent
    .together()
    .map((all) =>
      refuse(
        words`is in a pod without ${all.counted("volume")} that its containers mount (${all.named(namedText)})`,
        "add each to the pod's volumes, or remove its mounts; the file may be cut off",
      ),
    ),
  refused.hostless.map((name) =>
    problem(`is in a pod whose volume ${name} has an empty hostPath: Kubernetes makes it an emptyDir`, WHOLE),
  ),
];
const WHOLE = "see whether the file is whole: it may have been cut off";

const judgeRegistrationDirectory = (one: RegistrarContainer, settings: ParsedSettings) =>
  settings.pluginRegistrationPath({
    // CSI101 judges an empty one.
    seen: (directory) => (directory ? judgeDirectory(one, directory, settings) : undefined),
    unread: (gap) => unfilledDirectory(gap),
  });

function judgeDirectory(
  { program, mounts, refused, hostPaths }: RegistrarContainer,
  directory: string,
  { paths }: ParsedSettings,
): Verdicts {
  const mount = mountOf(directory, mounts);
  const kubeletPaths = hostPaths.filter((path) => rootIn(path) !== undefined);
  const driverPath = paths.items(({ csiAddress, told }) =>
    onHost(csiAddress, mounts).map((host) => host ?? told),
  );
  const told = paths.map((both) => both.told);
  const place = directory === "/" ? "at /registration, and take --plugin-registration-path out" : "there";
  const found = driverPath.with(told).with(kubeletPaths).flatMap(directoryFor);
  const mountIt = words`mount the hostPath ${found.told(KNOWN_DIRECTORIES[0] ?? "")} ${place}`;
  if (mount === undefined)
    return program.map(() =>
      ifYes(refused.pathless.contains().not(), () => problem(`has nothing mounted at ${directory}`, mountIt)),
    );
  const noHost = () =>
    problem(
      undeclared(mount) ??
        `has a volume of kind ${mount.volumeKind} at ${directory}, where kubelet does not look`,
      mountIt,
    );
  const judge = (host: string): Verdicts => {
    if (isRelative(host)) return judgeRelative(host, directory);
    if (mount.isReadOnly) return isReadOnly(`mounts ${directory}`);
    const registry = registryOf(host);
    if (registry === undefined)
      return problem(
        `mounts ${host} at ${directory}, and kubelet looks in its plugins_registry only`,
        mountIt,
      );
    const root = onHosts(dirname(registry));
    const roots = () => judgeRoots(host, root, driverPath, kubeletPaths);
    return told
      .flatMap((path) => judgeLength(host, path))
      .some({ yes: ({ first }) => first, no: roots, unknown: () => doubted(roots()) });
  };
  return judgeMount(mount, "kubelet", () =>
    onHost(
      directory,
      mounts,
    )({
      seen: (host) => (host === undefined ? noHost() : judge(host)),
      unread: (gap) => unfilledDirectory(gap),
    }),
  );
}

function judgeLength(host: string, told: string): Verdict | undefined {
  const [name = "x"] = DRIVER_NAME.exec(basename(dirname(told))) ?? [];
  const socket = registrationSocketPath(host, name);
  const bytes = Buffer.byteLength(socket);
  if (bytes <= MAX_SOCKET_PATH_BYTES) return undefined;
  // A driver may have another name than its directory.
  const say = fitsSocketPath(registrationSocketPath(host, "x")) ? warning : problem;
  return say(
    `makes its socket at ${socket}, which ${tooLong(bytes)}`,
    "give kubelet a shorter --root-dir, or the driver a shorter name",
  );
}

function judgeRoots(
  host: string,
  root: string,
  driverPath: SeenList<string>,
  kubeletPaths: SeenList<string>,
): Verdicts {
  const rootOf = (path: string) => rootIn(onHosts(path));
  const ofPods = kubeletPaths.filter((path) => /\/pods$/.test(path));
  const isOfPods = ofPods.contains((path) => rootOf(path) === root);
  const others = (paths: SeenList<string>) => paths.filter((path) => (rootOf(path) ?? root) !== root);
  const differs = ({ first: other }: Group<string>) => {
    const otherRoot = rootOf(other) ?? "";
    const [tell, why] = mayBeLinked(root, otherRoot)
      ? [unknown, LINKED]
      : [problem, "a node has one kubelet root"];
    return tell(
      `registers in ${root}, and its pod has ${other}: ${why}`,
      `use one of them everywhere: ${root}, or ${otherRoot}`,
    );
  };
  const byPods = () =>
    others(ofPods.filter(() => isOfPods.not())).some({
      yes: differs,
      no: () => ok(`makes its socket where kubelet looks: ${host}`),
      unknown: ([gap]) => unfilledDirectory(gap),
    });
  // CSI102 says what is not known of the driver's path.
  return others(driverPath).some({ yes: differs, no: byPods, unknown: withheld });
}
