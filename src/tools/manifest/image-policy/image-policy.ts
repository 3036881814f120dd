import { isOtherSidecar } from "../../recognise/image";
import { IS_POD_FOR_WINDOWS } from "../../recognise/nodes";
import { celText, literal, toCel } from "../../recognise/rule";
import { isSwapped, maySwap } from "../../recognise/swap";
import { checkNamed, checkPinned, refuseFlag } from "../names";
import { object, scalar, type Yaml, yaml } from "../template";
import { addedWords, metricsPort, type Swap, swapPatch } from "./changes";

/** The first minor version of Kubernetes 1 with MutatingAdmissionPolicy v1. */
export const IMAGE_POLICY_MINOR = 36;

interface PolicyScope {
  readonly name?: string | undefined;
  /** Names of other images that have the official registrar: the last part, without tag. */
  readonly matchImages: readonly string[];
  readonly namespaces: readonly string[];
  /** Only pods of DaemonSets on these nodes. */
  readonly nodes?: readonly string[] | undefined;
  /** The minor version of Kubernetes 1 that it is for; before 1.36 the API server serves v1beta1, and only if asked to. Default: one with MutatingAdmissionPolicy v1. */
  readonly minor?: number | undefined;
}

/** The API server refuses a pod whose annotation with this prefix names a container that the pod does not have. */
const APPARMOR_PREFIX = "container.apparmor.security.beta.kubernetes.io/";

/** Gives every registrar the image at the creation of its pod. Throws INVALID_OPTION. */
export function swapPolicy(options: PolicyScope & Swap): readonly Yaml[] {
  const { name = "registrar-image", args, metrics } = options;
  checkPinned("image", options.image);
  checkScope(name, options);
  const port = yaml`
    # The port for the metrics of the pod's registrar, if nothing in the pod may have it.
    - name: port
      expression: |-
        ${metrics && metricsPort(metrics)}
  `;
  return objectsOf(name, options, {
    about: yaml`
      # Gives the official CSI registrars of the pods that it selects another image, as the pods are created: DaemonSets and what
      # owns them stay as they are. To go back, delete the policy and restart the DaemonSets.
    `,
    variables: yaml`
      ${metrics && port}
      # With the arguments that each one gets, right behind the program: its own come after them, and so they count.
      - name: swapped
        expression: |-
          variables.registrars.map(r, {'is': r.is, 'path': r.path, 'words': r.words, 'added': dyn(
            ${addedWords(args, metrics)}
          )})
    `,
    patch: swapPatch(options),
  });
}

/**
 * Takes every registrar out of the pods whose driver the node-wide one finds in kubelet's root, except a pod's only container.
 * Throws INVALID_OPTION.
 */
export function dropPolicy(options: PolicyScope & { readonly root: string }): readonly Yaml[] {
  const { name = "registrar-drop" } = options;
  checkScope(name, options);
  const path = celText(servedPattern(options.root));
  return objectsOf(name, options, {
    about: yaml`
      # Takes the official CSI registrars out of the pods that it selects, as these are created, if the node-wide registrar finds their
      # drivers. Apply its DaemonSet first, and wait for its pods. To go back: delete this policy, restart the drivers, delete it.
    `,
    variables: yaml`
      # The values of --kubelet-registration-path: behind a '=', or the next word.
      - name: named
        expression: |-
          variables.registrars.map(r, {'list': r.list, 'at': r.at, 'is': r.is, 'paths': dyn(r.words.transformList(i, w,
            w.matches('^--?kubelet-registration-path=') || i > 0 && r.words[i - 1].matches('^--?kubelet-registration-path$'),
            w.find('[^=]*$')))})
      # Those whose driver's socket is where the node-wide registrar looks. A value may be a variable.
      - name: served
        expression: |-
          variables.named.filter(r, size(r.paths) > 0 && r.paths.all(p, p.matches(${path}) || r.is.?env.orValue([])
            .exists(e, '$(' + e.name + ')' == p && e.?value.orValue('').matches(${path}))) &&
            !('${APPARMOR_PREFIX}' + r.is.name in object.metadata.?annotations.orValue({})))
      # A pod cannot be without containers.
      - name: dropped
        expression: |-
          variables.served.filter(r, r.list == 'containers').size() < object.spec.containers.size()
            ? variables.served : []
    `,
    // Each removal moves the containers behind it one place forward.
    patch: `variables.dropped.map(r, JSONPatch{op: 'remove', path: '/spec/' + r.list + '/' +
  string(r.at - variables.dropped.filter(d, d.list == r.list && d.at < r.at).size())})`,
  });
}

function checkScope(name: string, { matchImages, namespaces }: PolicyScope): void {
  checkNamed("label", "name", name);
  for (const one of matchImages) {
    checkNamed("image name", "match-image", one);
    if (isOtherSidecar(one))
      refuseFlag("match-image", one, "is another sidecar, which a registrar cannot replace");
  }
  for (const namespace of namespaces) checkNamed("label", "namespace", namespace);
}

interface PolicyParts extends Readonly<Record<"about" | "variables", Yaml>> {
  readonly patch: string;
}

/** The policy and its binding. */
function objectsOf(name: string, scope: PolicyScope, parts: PolicyParts): readonly Yaml[] {
  const { minor = IMAGE_POLICY_MINOR } = scope;
  const isStable = minor >= IMAGE_POLICY_MINOR;
  const apiVersion = `admissionregistration.k8s.io/${isStable ? "v1" : "v1beta1"}`;
  const needs = isStable
    ? `It needs Kubernetes 1.${IMAGE_POLICY_MINOR}.`
    : `It needs the API server's flags --feature-gates=MutatingAdmissionPolicy=true and --runtime-config=${apiVersion}=true.`;
  return [
    yaml`
      ${parts.about}
      # ${needs} If the API server cannot evaluate it for a pod, that pod is created unchanged.
      ${object(apiVersion, "MutatingAdmissionPolicy", name)}
      spec:
        failurePolicy: Ignore
        reinvocationPolicy: Never
        matchConstraints:
          resourceRules:
            - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
          # A pod, or a DaemonSet's template, opts out by this label.
          objectSelector:
            matchExpressions:
              - {key: registrar-image-policy, operator: NotIn, values: [ignore]}
          ${scope.namespaces.length > 0 && namespaceSelector(scope.namespaces)}
        matchConditions:
          ${matchConditions(scope.matchImages)}
        variables:
          ${containersVariable(scope.nodes)}
          ${registrarsVariable(scope.matchImages)}
          ${parts.variables}
        mutations:
          - patchType: JSONPatch
            jsonPatch:
              expression: |-
                ${parts.patch}
    `,
    yaml`
      ${object(apiVersion, "MutatingAdmissionPolicyBinding", name)}
      spec:
        policyName: ${scalar(name)}
    `,
  ];
}

const namespaceSelector = (namespaces: readonly string[]) => yaml`
  namespaceSelector:
    matchExpressions:
      - {key: kubernetes.io/metadata.name, operator: In, values: [${namespaces.map((name) => JSON.stringify(name)).join(", ")}]}
`;

/** A regular expression for the kubelet registration path of a driver that the node-wide registrar finds. */
const servedPattern = (kubeletRoot: string) =>
  `^(unix://)?${literal(kubeletRoot)}/plugins/[^/*]+/csi[.]sock$`;

/** Selects pods with a registrar, except pods for Windows. */
function matchConditions(matchImages: readonly string[]): Yaml {
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
function containersVariable(nodes: readonly string[] | undefined): Yaml {
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
function registrarsVariable(matchImages: readonly string[]): Yaml {
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
