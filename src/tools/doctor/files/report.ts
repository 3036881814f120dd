import { invalidOption } from "../../../base/errors";
import { plain } from "../../../logging/escape";
import { HAS_OFFICIAL_NAME, hasName, lastPart } from "../../recognise/image";
import type { OurImage } from "../../recognise/program";
import { holds } from "../../recognise/rule";
import { type Finding, findingsOf, unread as unreadVerdict } from "../findings/finding";
import { reportOf } from "../findings/report";
import { renderReport, type TableLook } from "../findings/table";
import { MANIFEST_CHECKS, manifestReadable } from "./judge/checks";
import { eitherLines, judgeSwap, readSwap } from "./judge/swap";
import type { FilesRead } from "./read/documents";
import { imagesIn, type ManifestFacts, readRegistrars } from "./read/registrars";

/** Judges the objects in files. Throws INVALID_OPTION for files without a registrar. */
export function reportOnFiles(read: FilesRead, ours: OurImage) {
  const report = reportOf({ files: read.files }, findingsOf(MANIFEST_CHECKS, factsOf(read, ours)));
  return { report, render: (look: TableLook) => renderReport(report, look, { isBySubject: true }) };
}

/**
 * `swap` is the image that takes the official one's place; empty: any of ours. `ours.image` names another image whose place it
 * takes, as the policy's `--match-image` does. Throws as {@link reportOnFiles} does.
 */
export function reportOnSwap(read: FilesRead, ours: OurImage, swap: string) {
  const { files } = read;
  const both = readSwap((images) => factsOf(read, images), ours, swap);
  const { before, swapped } = both;
  const policy =
    ours.image === undefined || swapped === 0
      ? null
      : policyCommand(ours.image, swap || "IMAGE", before, read);
  const { findings, problemsWithEither } = judgeSwap(both);
  const target = { files, swap, swapped, policy, problemsWithEither };
  const report = reportOf(target, swapped === 0 ? [...findings, nothingToSwap(read, before)] : findings);
  const command = `registrar doctor ${files.map((file) => `-f ${plain(file)}`).join(" ")}`;
  const next = [
    ...eitherLines(problemsWithEither, command),
    ...(policy === null ? [] : [`To swap them in a cluster: ${policy}`]),
  ];
  const layout = { isBySubject: true, swapped: target, next };
  return { report, render: (look: TableLook) => renderReport(report, look, layout) };
}

/** The image policy knows the official image's names. Null: other containers have, or may have, an image of this name, too. */
function policyCommand(image: string, swap: string, before: ManifestFacts, read: FilesRead): string | null {
  const name = lastPart(image);
  const isKnown = holds(HAS_OFFICIAL_NAME, { image });
  const count = (images: readonly string[]) =>
    images.filter((one) => holds(hasName([name]), { image: one })).length;
  const isShared = () => count(imagesIn(read.objects)) > count(before.registrars.map((one) => one.image));
  if (!isKnown && (before.unread.length > 0 || isShared())) return null;
  return `registrar manifest --image-policy --image=${swap}${isKnown ? "" : ` --match-image=${name}`}`;
}

function factsOf({ objects, unread }: FilesRead, ours: OurImage): ManifestFacts {
  const [first] = unread;
  if (objects.length === 0 && first) {
    const why = [`${first.place}: ${first.why}`, first.advice].filter(Boolean).join("; ");
    throw invalidOption(`cannot read ${why}`);
  }
  const read = readRegistrars(objects, ours);
  const facts = { ...read, unread: [...unread, ...read.unread] };
  if (facts.registrars.length === 0 && facts.unread.length === 0)
    throw invalidOption(
      "no registrar in these files: no container has its arguments, or its image without another command; if one is this registrar's, name its image with --image=IMAGE; registrar doctor --cluster judges what an operator creates",
    );
  return facts;
}

function nothingToSwap({ files }: FilesRead, { registrars }: ManifestFacts): Finding {
  const [unknown = "no container for Linux has the official registrar's image"] = registrars.flatMap(
    ({ place, program }) => (program.kind === "unknown" ? `${place}: ${program.why}` : []),
  );
  const fix = "give files that have the official registrar, or name its image with --image=IMAGE";
  const { code, name } = manifestReadable;
  return { code, check: name, ...unreadVerdict(files.join(", "), `has nothing to swap: ${unknown}`, fix) };
}
