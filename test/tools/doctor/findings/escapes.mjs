// `node escapes.mjs TSCONFIG FOLDER...` prints `FILE:LINE: BY: CODE` for each place where something unread passes for an absent, an
// empty or a well one; BY: this search, or TypeScript. A program of its own, because TypeScript's API is an ES module.
import { relative } from "node:path";
import * as ast from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";
import { bare, createFunctions, isFunction, isOfJudges, moduleOf } from "./functions.mjs";
import { plainIn } from "./leaves.mjs";
import { OF_FEW, OPENERS, READERS_ALONE } from "./reserved.mjs";

const [, , config, ...folders] = process.argv;
const api = new API();
const [{ program, checker }] = api.updateSnapshot({ openProjects: [config] }).getProjects();
const K = ast.SyntaxKind;
const functionsOf = createFunctions(program);

/** Of these types each value is truthy, and equal to nothing: they are asked by their methods, or for their kind. */
const ASKED = [
  ...["Truth", "KnownTruth", "SeenList", "Mixed", "KnownList", "Group", "Seen", "Unread", "Withheld"],
  ...["Told", "Key", "Name", "Words", "Said", "Verdict", "Verdicts", "Closed", "Ordered", "KnownState"],
];
/** Array methods that take any value for an answer. */
const TAKES_ALL = /^(?:some|every|filter|find|findIndex|findLast|findLastIndex)$/;
const EQUAL = [K.EqualsEqualsToken, K.EqualsEqualsEqualsToken];
const UNEQUAL = [K.ExclamationEqualsToken, K.ExclamationEqualsEqualsToken];
const LOGICAL = [K.AmpersandAmpersandToken, K.BarBarToken, K.QuestionQuestionToken];

const partsOf = (type) => {
  try {
    return type?.isUnionType() ? type.getTypes() : type ? [type] : [];
  } catch {
    // TypeScript 7.0 fails for a union with a tuple in it: its own name says what it is.
    return [type];
  }
};
const typesOf = (node) => partsOf(checker.getTypeAtLocation(node));
const nameOf = (type) => (type.getAliasSymbol() ?? type.getSymbol())?.name ?? "";
const namesOf = (node) => typesOf(node).map(nameOf);
const isAskedType = (type) => partsOf(type).some((one) => ASKED.includes(nameOf(one)));
const isAsked = (node) => namesOf(bare(node)).some((name) => ASKED.includes(name));
const itemTypesOf = (type) => (type?.isTypeReference?.() ? checker.getTypeArguments(type) : []);
/** Whether one is in a list or in an object: what takes anything takes that, too. */
const hasAsked = (type) =>
  partsOf(type).some(
    (one) =>
      isAskedType(one) ||
      itemTypesOf(one).some(isAskedType) ||
      (["__object", "__type"].includes(nameOf(one)) &&
        checker.getPropertiesOfType(one).some((own) => isAskedType(checker.getTypeOfSymbol(own)))),
  );
/** Whether it may be unread, or something else. */
function mayBeUnread(node) {
  const types = typesOf(bare(node));
  return types.length > 1 && types.some(isUnread);
}
function isUnread(type) {
  const kind = type.isObjectType() && checker.getPropertyOfType(type, "kind");
  return kind && checker.getTypeOfSymbol(kind)?.value === "unread";
}
const hasKind = (node) =>
  node !== undefined &&
  typesOf(node).some((type) => type.isObjectType() && checker.getPropertyOfType(type, "kind"));
const holdsAsked = (node) =>
  isAsked(node) || mayBeUnread(node) || hasAsked(checker.getTypeAtLocation(bare(node)));
/** Readers join what they read. */
const isHeld = (node) => (isJudge ? holdsAsked(node) : isAsked(node));
/** An optional property may be compared with undefined: that says whether the question was asked. */
const mayBeUndefined = (node) =>
  typesOf(node).some((type) => type.isIntrinsicType() && type.intrinsicName === "undefined");

/** Whether this is the kind of something that may be unread. */
const isOpen = (node) => {
  const types = typesOf(node);
  return types.length > 1 && types.some((type) => type.isStringLiteralType() && type.value === "unread");
};
/** A judge only answers: with any other effect, what is said of each item could be counted. */
const EFFECTS =
  /^(?:push|pop|shift|unshift|fill|sort|reverse|copyWithin|add|set(?:[A-Z]\w*)?|delete|clear|splice|assign|define\w+|append|write|emit|next|abort)$/;
/** What has a state of its own, or throws what it says away. */
function keepsState(node) {
  if (ast.isNewExpression(node)) return !/^(?:Set|Map|Date|RegExp)$/.test(node.expression.getText());
  if (ast.isRegularExpressionLiteral(node))
    return /[gy]\w*$/.test(node.text) && !ast.isCallExpression(node.parent);
  const isGenerator = node.asteriskToken !== undefined;
  return (
    isGenerator || ast.isClassDeclaration(node) || ast.isClassExpression(node) || ast.isVoidExpression(node)
  );
}
function hasEffect(node) {
  if (keepsState(node)) return true;
  if (ast.isExpressionStatement(node) || ast.isThrowStatement(node) || ast.isTryStatement(node)) return true;
  if (ast.isVariableDeclarationList(node)) return !/^const\b/.test(node.getText());
  if (ast.isBinaryExpression(node)) return /^(?:[^=!<>]*[^=!<>])?=$/.test(node.operatorToken.getText());
  if (ast.isPostfixUnaryExpression(node)) return true;
  if (ast.isPrefixUnaryExpression(node)) return [K.PlusPlusToken, K.MinusMinusToken].includes(node.operator);
  const callee = ast.isCallExpression(node) ? bare(node.expression) : undefined;
  return callee !== undefined && ast.isPropertyAccessExpression(callee) && EFFECTS.test(callee.name.text);
}

const ANY = ["unknown", "any", "object"];
/** A type that may be anything: as a condition it takes an answer for yes. */
const mayBeAny = (node) =>
  typesOf(bare(node)).some(
    (type) => type.isTypeParameter() || (type.isIntrinsicType() && ANY.includes(type.intrinsicName)),
  );
const isUndecided = (node) => isAsked(node) || (isJudge && mayBeAny(node));

/** Whether an array's method takes answers for yes, by its items or by what its function returns. */
function takesAnswers({ expression, arguments: given }) {
  const callee = bare(expression);
  if (!ast.isPropertyAccessExpression(callee) || !TAKES_ALL.test(callee.name.text)) return false;
  if (isAsked(callee.expression)) return false;
  const items = itemTypesOf(checker.getTypeAtLocation(callee.expression));
  const returned = given.flatMap((one) => {
    const type = checker.getTypeAtLocation(one);
    const signatures = type ? checker.getSignaturesOfType(type, 0) : [];
    return signatures.map((signature) => checker.getReturnTypeOfSignature(signature));
  });
  return [...items, ...returned].some((type) => type !== undefined && isAskedType(type));
}

/** Whether an answer is looked for among others. */
const isSearched = ({ expression, arguments: given }) =>
  ast.isPropertyAccessExpression(bare(expression)) &&
  /^(?:includes|indexOf|lastIndexOf|has|get)$/.test(bare(expression).name.text) &&
  given.some(isAsked);
/** Whether gaps are asked for one of them: reports name each. */
function asksGaps({ expression }) {
  const callee = bare(expression);
  if (!ast.isPropertyAccessExpression(callee) || !/^(?:some|every|find\w*)$/.test(callee.name.text))
    return false;
  const items = itemTypesOf(checker.getTypeAtLocation(callee.expression));
  return items.some((type) => partsOf(type).some((one) => ["Gap", "NodeGap"].includes(nameOf(one))));
}
/** Whether a question is asked where an error is an answer, too. */
const isTried = ({ expression, arguments: given }) =>
  expression.getText() === "attempt" && given.some((one) => hasWithin(one, isAsked));
const hasWithin = (node, isSo) =>
  isSo(node) || (node.forEachChild((one) => hasWithin(one, isSo) || undefined) ?? false);
/** Whether answers in a list become a text or a number, or one of them what any object can be. */
const OF_ANY = /^(?:valueOf|toString|toLocaleString|hasOwnProperty|propertyIsEnumerable|constructor)$/;
function isConverted({ expression, arguments: given }) {
  const callee = bare(expression);
  if (!ast.isPropertyAccessExpression(callee)) return false;
  if (isAsked(callee.expression)) return OF_ANY.test(callee.name.text);
  const isOfAsked = itemTypesOf(checker.getTypeAtLocation(callee.expression)).some(isAskedType);
  const takesAny = given.some((one) => /^(?:Number|String|Boolean|Object)$/.test(one.getText()));
  return isOfAsked && (takesAny || /^(?:join|to\w*String)$/.test(callee.name.text));
}

const functionsAround = (node) =>
  node === undefined ? [] : [...(isFunction(node) ? [node] : []), ...functionsAround(node.parent)];
const takes = ({ parameters }, names) =>
  parameters.some((one) =>
    [one.name, one].some((own) =>
      typesOf(own).some((type) => [type, ...itemTypesOf(type)].some((its) => names.includes(nameOf(its)))),
    ),
  );
const isYes = ({ parent }) => ast.isPropertyAssignment(parent) && parent.name.getText() === "yes";
const isIfWhole = ({ parent }) =>
  ast.isCallExpression(parent) &&
  parent.expression.getText() === "ifYes" &&
  /\bisWhole\(/.test(parent.arguments[0].getText());
/** Whether a call says this itself, or by functions of judges, called or given; not where a function around it is a guard. */
function says(node, what, isGuard, seen = []) {
  const saysIn = (own) =>
    !seen.includes(own) &&
    hasWithin(
      own.body,
      (one) =>
        ast.isCallExpression(one) &&
        !functionsAround(one.parent).slice(0, functionsAround(one.parent).indexOf(own)).some(isGuard) &&
        says(one, what, isGuard, [...seen, own]),
    );
  return (
    what.test(node.expression.getText()) ||
    [node.expression, ...node.arguments].some((one) => functionsOf(one).some(saysIn))
  );
}
/** Whether all is said to be well because of those that were seen; that there is one, `yes` of a list says. */
function isOkOfGroup(node) {
  const isGuard = (one) => isYes(one) || isIfWhole(one);
  if (!says(node, /(?:^|\.)ok$/, isGuard)) return false;
  const around = functionsAround(node.parent);
  const last = around.findIndex(isGuard);
  return (last === -1 ? around : around.slice(0, last)).some((one) => takes(one, ["Group"]));
}
const CLAIMS = /(?:^|\.)(?:ok|problem|warning|skipped)$/;
/** Whether something is claimed of what could not be read. */
const isOfGap = (node) =>
  functionsAround(node.parent).some((one) => takes(one, ["Gap", "NodeGap"])) &&
  says(node, CLAIMS, () => false);

/** Where an answer is unknown. */
const isUnclearArm = ({ parent }) =>
  (ast.isPropertyAssignment(parent) && parent.name.getText() === "unknown") ||
  (ast.isCallExpression(parent) && /^(?:otherwise|ifUnknown)$/.test(parent.expression.getText()));
/** Whether a row is made there that has another state. */
const isRowOfUnknown = (node) =>
  /^(?:toldRow|rowOf)$/.test(node.expression.getText()) &&
  functionsAround(node.parent).some(isUnclearArm) &&
  !/^(?:\{.*\bstate: )?["']unknown["']/s.test(node.arguments[0].getText());

const KNOWN = ["KnownTruth", "KnownList"];
const isKnown = (node) => node !== undefined && namesOf(bare(node)).every((name) => KNOWN.includes(name));
/** Whether what is known gets a type that hides it: in a list it would be the first of what was not read. */
function isWidened(node) {
  if (ast.isArrowFunction(node)) {
    const body = ast.isParenthesizedExpression(node.body) ? node.body.expression : node.body;
    return node.type !== undefined && isKnown(body);
  }
  if (ast.isVariableDeclaration(node)) return node.type !== undefined && isKnown(node.initializer);
  if (!ast.isReturnStatement(node) || node.parent.statements?.length !== 1) return false;
  return node.parent.parent.type !== undefined && isKnown(node.expression);
}

/** Whether the first of several lists is taken: `firstIn` knows whether one before it was read. */
function isFirstOfMixed(node) {
  const callee = bare(node.expression);
  if (!ast.isPropertyAccessExpression(callee) || !/^(?:some|together|grouped)$/.test(callee.name.text))
    return false;
  const chain = (one) =>
    one.parent.expression === one && !ast.isExpressionStatement(one.parent) ? chain(one.parent) : one;
  return namesOf(callee.expression).includes("Mixed") && /\bfirst\b/.test(chain(node).getText());
}

function isEscape(node) {
  if (isJudge && isWidened(node)) return true;
  // It would take what may be unread for what it asks of its kind.
  if (ast.isTypeParameterDeclaration(node)) return isJudge && hasKind(node.constraint);
  if (ast.isPrefixUnaryExpression(node))
    return node.operator === K.ExclamationToken ? isUndecided(node.operand) : isAsked(node.operand);
  if (ast.isConditionalExpression(node)) return isUndecided(node.condition);
  if (ast.isIfStatement(node) || ast.isWhileStatement(node) || ast.isDoStatement(node))
    return isUndecided(node.expression);
  if (ast.isSwitchStatement(node) || ast.isCaseClause(node)) return isUndecided(node.expression);
  if (ast.isElementAccessExpression(node)) return isAsked(node.argumentExpression);
  // Under another type it would be no answer any more.
  if (ast.isVariableDeclaration(node) && node.type && node.initializer)
    return isHeld(node.initializer) && !isHeld(node.name);
  if (ast.isAsExpression(node) || ast.isTypeAssertionExpression?.(node))
    return isJudge && node.type.getText() !== "const";
  if (ast.isSatisfiesExpression(node))
    return isJudge && isAsked(node.expression) && !isAskedType(checker.getTypeAtLocation(node));
  if (ast.isTypeOfExpression(node) || ast.isTemplateSpan(node))
    return holdsAsked(node.expression) && node.parent.parent.tag?.getText() !== "words";
  if (ast.isBinaryExpression(node)) {
    const kind = node.operatorToken.kind;
    if (kind === K.InKeyword) return isAsked(node.right) || (isJudge && mayBeUnread(node.right));
    if (kind === K.InstanceOfKeyword || kind === K.PlusToken)
      return isAsked(node.left) || isAsked(node.right);
    const mayLack = (one) =>
      mayBeUndefined(bare(one)) && !namesOf(bare(one)).some((name) => ["Withheld", "Closed"].includes(name));
    if (LOGICAL.includes(kind))
      return isAsked(node.left) && !(kind === K.QuestionQuestionToken && mayLack(node.left));
    return (
      [...EQUAL, ...UNEQUAL].includes(kind) &&
      [node.left, node.right].some((one) => isUndecided(one) && !mayLack(one))
    );
  }
  if (ast.isBindingElement(node))
    return (node.propertyName ?? node.name)?.getText() === "kind" && isOpen(node.name);
  if (ast.isPropertyAccessExpression(node)) return node.name.text === "kind" && isOpen(node);
  if (ast.isCallExpression(node))
    return (
      takesAnswers(node) ||
      (isJudge &&
        (isFirstOfMixed(node) ||
          isSearched(node) ||
          isTried(node) ||
          asksGaps(node) ||
          isConverted(node) ||
          isOkOfGroup(node) ||
          isOfGap(node) ||
          isRowOfUnknown(node))) ||
      node.arguments.some(
        (one) =>
          !ast.isSpreadElement(one) &&
          isHeld(one) &&
          (!isTaken(one) || node.expression.getText() === "Boolean"),
      )
    );
  if (ast.isSpreadAssignment(node) || ast.isSpreadElement(node)) return isAsked(node.expression);
  if (ast.isNewExpression(node)) return isJudge && (node.arguments ?? []).some(holdsAsked);
  return (ast.isForOfStatement(node) || ast.isForInStatement(node)) && isAsked(node.expression);
}

/** Whether a function knows what it is given: an argument of any type may be anything to it. */
function isTaken(argument) {
  const type = checker.getContextualType(argument);
  const isAny = (one) => one.isIntrinsicType?.() && ANY.includes(one.intrinsicName);
  if (type === undefined || !isJudge) return type !== undefined && !isAny(type);
  if (mayBeUnread(argument) && !hasAsked(type) && !partsOf(type).some(isUnread)) return false;
  return hasAsked(type) || !partsOf(type).some((one) => isAny(one) || isEmpty(one));
}
/** What each object fits. */
const isEmpty = (type) =>
  type.isObjectType?.() === true &&
  checker.getPropertiesOfType(type).length === 0 &&
  checker.getSignaturesOfType(type, 0).length === 0;

const isOfTypes = (node) => ast.isImportDeclaration(node) && /^import type\b/.test(node.getText());

let isJudge = false;
const lines = [];
for (const name of program
  .getSourceFileNames()
  .filter((file) => folders.some((folder) => file.startsWith(folder)))) {
  const file = program.getSourceFile(name);
  const say = (by, at, what) => {
    const line = file.text.slice(0, at).split("\n").length;
    lines.push(`${relative(process.cwd(), name)}:${line}: ${by}: ${what}`);
  };
  isJudge = isOfJudges(name);
  // A reader makes the gap.
  const isReader = /\/read\//.test(name);
  const visit = (node) => {
    const isOpened =
      isJudge &&
      ((ast.isStringLiteral(node) && OPENERS.test(moduleOf(name, node)) && !isOfTypes(node.parent)) ||
        ((ast.isIdentifier(node) || ast.isStringLiteral(node)) &&
          (READERS_ALONE.includes(node.text) || OF_FEW.get(node.text)?.test(name) === false)));
    const isImpure = isJudge && hasEffect(node);
    const isGap =
      node.operatorToken?.kind === K.InKeyword ||
      ast.isBindingElement(node) ||
      ast.isPropertyAccessExpression(node);
    if (isOpened || isImpure || (!(isReader && isGap) && isEscape(node)))
      say("search", node.getStart(file), node.getText(file).replace(/\s+/g, " ").slice(0, 120));
    node.forEachChild(visit);
  };
  if (!/findings\/(?:seen|opened|finding|least)\.ts$/.test(name)) file.forEachChild(visit);
  if (name.endsWith("/escapes/facts.ts"))
    file.forEachChild((node) => {
      if (ast.isInterfaceDeclaration(node))
        for (const one of plainIn(checker, checker.getTypeAtLocation(node))) lines.push(`plain: ${one}`);
    });
  for (const { pos, text } of program.getSemanticDiagnostics(name)) say("TypeScript", pos, text);
}
api.close();
process.stdout.write(lines.map((line) => `${line}\n`).join(""));
