import { IS_POD_FOR_WINDOWS } from "../../recognise/nodes";
import { literal, toCel } from "../../recognise/rule";
import { isSwapped, maySwap } from "../../recognise/swap";
import { type Yaml, yaml } from "../template";

/** A regular expression for the kubelet registration path of a driver that the node-wide registrar finds. */
export const servedPattern = (kubeletRoot: string) =>
  `^(unix://)?${literal(kubeletRoot)}/plugins/[^/*]+/csi[.]sock$`;

/** Selects pods with a registrar, except pods for Windows. */
export function matchConditions(matchImages: readonly string[]): Yaml {
  const isRegistrar = toCel(isSwapped(matchImages), "c");
  return yaml`
    - name: has-a-registrar
      expression: |-
        object.spec.containers.exists(c,
        ${isRegistrar}
        ) || object.spec.?initContainers.orValue([]).exists(c,
        ${isRegistrar}
        )
    # The official image may run on Windows, this one does not.
    - name: is-not-for-windows
      expression: |-
        ${toCel({ not: IS_POD_FOR_WINDOWS }, "object.spec")}
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

/** The variable `registrars`: where each one is, and the words of its command line. */
export function registrarsVariable(matchImages: readonly string[]): Yaml {
  return yaml`
    # A container or exec probe that runs another program is left alone, and so is one with a path of Windows.
    - name: registrars
      expression: |-
        variables.containers.filter(r,
        ${toCel(maySwap(matchImages), "r.is")}
        ).map(r, {
          'is': r.is, 'list': r.list, 'at': r.at, 'path': dyn('/spec/' + r.list + '/' + string(r.at)),
          'words': r.is.?command.orValue([]) + r.is.?args.orValue([])})
  `;
}
