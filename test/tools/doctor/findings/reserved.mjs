// What no judge may use, or only some.

/** What only readers and reports may load, as the module that it is: it opens what is closed. */
export const OPENERS = /findings\/(?:opened|report)$/;
/** The same, of other modules: it makes other findings of findings, or gaps, or takes a path as it is written. */
export const READERS_ALONE = [
  "changed",
  "startReading",
  "inOrder",
  "placedAt",
  "writtenOnHost",
  "writtenPlaceOf",
  "comesBefore",
  "pathHere",
  "hostsPath",
  "pathOfProcess",
];
/** What does not ask what is unread, or compares names: these files say by it what holds whatever that is. */
export const OF_FEW = new Map([
  ["guessesIn", /\/cluster\/judge\/(?:groups|needs)\.ts$/],
  ["isGuess", /\/judge\/(?:machine|needs|pair-left|registrations|states|surroundings)\.ts$/],
  [
    "asFarAsAsked",
    /\/judge\/(?:endpoint|limits|needs|pair-left|probes|registrations|rows|states|surroundings)\.ts$/,
  ],
  ["mayBeSo", /\/judge\/(?:found|machine|probes|registrations|view)\.ts$/],
  [
    "atLeast",
    /(?:\/node\/judge\/(?:driver|endpoint|found|machine|registration|rows)|\/cluster\/judge\/needs)\.ts$/,
  ],
  ["isWrittenAlike", /\/node\/judge\/driver\.ts$/],
  ["isSameName", /\/files\/judge\/driver-socket\.ts$/],
  [
    "firstSeen",
    /\/(?:node\/judge\/(?:found|machine|rows|view)|cluster\/judge\/state|files\/judge\/driver-socket)\.ts$/,
  ],
]);
