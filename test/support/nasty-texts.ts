/** Texts that a log, a terminal or a parser may take for something else, by a name for people. */
export const NASTY_TEXTS: Readonly<Record<string, string>> = {
  "a forged line": 'x\nI1121 10:00:00.000000       1 main.go:1] "All is well"',
  "a forged line after CR": 'x\r\nE1121 10:00:00.000000       1 main.go:1] "Forged"',
  "a forged JSON line": 'x"}\n{"ts":1,"msg":"forged"}',
  "forged fields": 'x" registered="true" y="',
  "terminal escapes": "\u001b[2J\u001b[31mred\u001b]0;title\u0007",
  "C1 controls": "\u009b31m\u0085next\u0090q\u009c",
  "line separators": "one\u2028two\u2029three\vfour\ffive",
  "bidirectional overrides": "\u202egnp.exe\u202c\u2066\u2069\u200f",
  "invisible characters": "a\u200bb\ufeffc\u00add\u{e0041}",
  "NUL and backspace": "a\u0000b\b\b\u007f",
  "format directives": "%s %d %n %x %% %!s(MISSING) $HOME $(id) `id` {{.}} {0}",
  "backslashes and quotes": '\\ \\n \\" \' " \\u000a \\x1b',
  "every script": "ümlaut ☃ 日本語 😀 עברית नमस्ते e\u0301",
  "a great length": "long ".repeat(2_000),
};

/** What no line of a log may hold raw, its line feed aside. */
export const UNPRINTABLE = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u;
