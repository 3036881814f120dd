import { type Yaml, yaml } from "../template";

/** A text as a string of CEL, the language of the API server's policies. */
export const celText = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

export const celList = (texts: readonly string[]) => `[${texts.map(celText).join(", ")}]`;

export const literal = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The last part of its name in kubernetes-csi, Calico (no `csi-`), Rancher, OpenShift (`ose-*`, `*-rhel9`), Chainguard. */
const OFFICIAL = "([a-z0-9._-]*-)?node-driver-registrar(-fips|-rhel[0-9]+)?";
/** The registrar in our image, which has no other program but Node. */
const PROGRAM = "/csi-node-driver-registrar";

/** Image names of the other sidecars of kubernetes-csi, in its registry and in mirrors. */
const OTHER_SIDECAR =
  /(?:^|-)(?:livenessprobe|provisioner|attacher|resizer|snapshotter|snapshot-controller|snapshot-metadata|health-monitor-(?:controller|agent)|cluster-driver-registrar)(?:-fips|-rhel[0-9]+)?$/;
export const isOtherSidecar = (imageName: string): boolean => OTHER_SIDECAR.test(imageName);

/** A regular expression of CEL and JavaScript for a registrar's image: by the last part of its name, whatever its tag or digest. */
export function imagePattern(matchImages: readonly string[]): string {
  const names = [OFFICIAL, ...matchImages.map(literal)].join("|");
  return `(^|/)(${names})(:[^/@]+)?(@[^/]+)?$`;
}

/** The same for the kubelet registration path of a driver that the node-wide registrar finds. */
export const servedPattern = (kubeletRoot: string) =>
  `^(unix://)?${literal(kubeletRoot)}/plugins/[^/*]+/csi[.]sock$`;

const imageTest = (matchImages: readonly string[]) => `matches(${celText(imagePattern(matchImages))})`;

export const OS_LABELS: readonly string[] = ["kubernetes.io/os", "beta.kubernetes.io/os"];
/** Labels whose value begins with `windows` on Windows nodes; GKE's is `windows_ltsc`, for one. */
export const WINDOWS_LABELS: readonly string[] = [...OS_LABELS, "cloud.google.com/gke-os-distribution"];
/** The label of every Windows node, and of no other. */
export const WINDOWS_BUILD = "node.kubernetes.io/windows-build";
/** The test in CEL that only Windows nodes have a label with this value. */
const isWindowsLabel = (key: string, value: string) =>
  `(${key} == '${WINDOWS_BUILD}' || ${key} in ${celList(WINDOWS_LABELS)} && ${value}.startsWith('windows'))`;

/** Selects pods with a registrar, except pods for Windows. */
export function matchConditions(matchImages: readonly string[]): Yaml {
  const hasRegistrar = `exists(c, c.?image.orValue('').${imageTest(matchImages)})`;
  return yaml`
    - name: has-a-registrar
      expression: |-
        object.spec.containers.${hasRegistrar} ||
        object.spec.?initContainers.orValue([]).${hasRegistrar}
    # The official image may run on Windows, this one does not.
    - name: is-not-for-windows
      expression: |-
        object.spec.?os.name.orValue('') != 'windows' &&
        !object.spec.?nodeSelector.orValue({}).exists(k, ${isWindowsLabel("k", "object.spec.nodeSelector[k]")}) &&
        !object.spec.?securityContext.?windowsOptions.hasValue() &&
        !object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])
          .exists(t, t.?matchExpressions.orValue([]).exists(e,
            e.operator == 'In' && e.?values.orValue([]).exists(v, ${isWindowsLabel("e.key", "v")}) ||
            e.operator == 'Exists' && e.key == '${WINDOWS_BUILD}' ||
            e.operator == 'NotIn' && e.key in ${celList(OS_LABELS)} && 'linux' in e.?values.orValue([])))
  `;
}

/** The variable `containers`: each one, and where it is; none in a pod that is not meant for one of the nodes. */
export function containersVariable(nodes: readonly string[] | undefined): Yaml {
  const only = yaml`
    # The DaemonSet controller writes the name of a pod's node into its affinity. Other controllers do not.
    - name: nodes
      expression: |-
        ${JSON.stringify(nodes, null, 1)}
  `;
  const isElsewhere = yaml`
    !object.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution.?nodeSelectorTerms.orValue([])
      .exists(t, t.?matchFields.orValue([]).exists(f, f.key == 'metadata.name' && f.operator == 'In' &&
        f.?values.orValue([]).exists(name, name in variables.nodes))) ? [] :
  `;
  return yaml`
    ${nodes && only}
    - name: containers
      expression: |-
        ${nodes && isElsewhere}
        object.spec.containers.transformList(i, c, {'list': dyn('containers'), 'at': dyn(i), 'is': dyn(c)}) +
        object.spec.?initContainers.orValue([]).transformList(i, c, {'list': dyn('initContainers'), 'at': dyn(i), 'is': dyn(c)})
  `;
}

/**
 * The variable `registrars`: where each one is, and the words of its command line. The DaemonSet controller replaces a pod's
 * node affinity by the node's name, so that a pod for Windows may show only in its paths.
 */
export function registrarsVariable(matchImages: readonly string[]): Yaml {
  return yaml`
    # A container or exec probe that runs another program is left alone, and so is one with a path of Windows.
    - name: registrars
      expression: |-
        variables.containers.filter(r,
          r.is.?image.orValue('').${imageTest(matchImages)} &&
          r.is.?command[?0].orValue('${PROGRAM}') == '${PROGRAM}' &&
          [r.is.?livenessProbe, r.is.?readinessProbe, r.is.?startupProbe, r.is.?lifecycle.?postStart]
            .all(p, p.?exec.?command[?0].orValue('${PROGRAM}') == '${PROGRAM}') &&
          !r.is.?securityContext.?windowsOptions.hasValue() &&
          !(r.is.?args.orValue([]) + r.is.?env.orValue([]).map(e, e.?value.orValue('')) +
            r.is.?volumeMounts.orValue([]).map(m, m.mountPath)).exists(t, t.matches('[A-Za-z]:\\\\\\\\|[.]exe$'))
        ).map(r, {
          'is': r.is, 'list': r.list, 'at': r.at, 'path': dyn('/spec/' + r.list + '/' + string(r.at)),
          'words': r.is.?command.orValue([]) + r.is.?args.orValue([])})
  `;
}
