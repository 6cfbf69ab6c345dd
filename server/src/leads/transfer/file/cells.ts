import { invisible } from '../../../base/text/external-text.ts'
import type { Delimiter } from './file-rows.ts'

// Spreadsheets run what begins like this as a formula, whoever wrote it. Some read the wide and small forms as the plain
// ones, and all pass over what cannot be seen; a quote in front may be one that a reader takes for the end.
const unread = String.raw`[[\p{White_Space}\p{Cc}${invisible}"]--[\t\r\n]]*`
const runs = String.raw`'*${unread}[=＝﹦⁼₌⩵⩶+＋﹢⁺₊﬩\-－﹣−⁻₋@＠﹫]`

const beginning = new RegExp(String.raw`^(?:'*[\t\r\n]|${runs})`, 'v')
const guardedBeginning = new RegExp(String.raw`^'(?:'*[\t\r\n]|${runs})`, 'v')

// A program that expects another delimiter cuts within cells, whatever quotes are around them: where `;` is the delimiter
// of the country, at every one of those, and then at the ends of lines too. At the comma or semicolon of the file itself
// nothing is cut: only what has an apostrophe there gets another, so that taking one off gives back the text.
const cuts: Readonly<Record<Delimiter, RegExp>> = {
  ',': new RegExp(String.raw`[;\t\r\n](?=${runs})|,(?='${runs})`, 'gv'),
  ';': new RegExp(String.raw`[,\t\r\n](?=${runs})|;(?='${runs})`, 'gv'),
  '\t': new RegExp(String.raw`[,;\t\r\n](?=${runs})`, 'gv'),
}
const guardedCut = new RegExp(String.raw`([,;\t\r\n])'(?=${runs})`, 'gv')

/** A cell that no spreadsheet takes for a formula: what looks like one gets an apostrophe in front. */
export function guardCell(text: string, delimiter: Delimiter): string {
  const inner = text.replace(cuts[delimiter], "$&'")
  return beginning.test(text) ? `'${inner}` : inner
}

/** The text of a cell, without the apostrophes that `guardCell` gave it. */
export function unguardCell(cell: string): string {
  if (!cell.includes("'")) return cell
  const inner = guardedBeginning.test(cell) ? cell.slice(1) : cell
  return inner.replace(guardedCut, '$1')
}

/** One line of a CSV file: every cell guarded and in quotes, with its line end. */
export function csvLine(texts: readonly string[], delimiter: Delimiter): string {
  return `${texts.map((text) => quote(guardCell(text, delimiter))).join(delimiter)}\r\n`
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`
}
