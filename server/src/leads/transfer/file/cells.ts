import { invisible } from '../../../base/text/external-text.ts'
import type { Delimiter } from './file-rows.ts'

// Spreadsheets run text that starts like this as a formula. Some treat wide and small forms as the plain characters,
// and all skip invisible characters; a leading quote may be read as the end of the cell.
const ignoredCharacters = String.raw`[[\p{White_Space}\p{Cc}${invisible}"]--[\t\r\n]]*`
const formulaStart = String.raw`'*${ignoredCharacters}[=＝﹦⁼₌⩵⩶+＋﹢⁺₊﬩\-－﹣−⁻₋@＠﹫]`

const startsFormula = new RegExp(String.raw`^(?:'*[\t\r\n]|${formulaStart})`, 'v')
const guardedStart = new RegExp(String.raw`^'(?:'*[\t\r\n]|${formulaStart})`, 'v')

// A program that expects another delimiter splits cells despite quotes: with `;` as the delimiter of the locale, at
// every `;`, and then at line ends too. At the file's own comma or semicolon nothing is split: there only text that
// already has an apostrophe gets another, so that removing one restores the text.
const splitPoints: Readonly<Record<Delimiter, RegExp>> = {
  ',': new RegExp(String.raw`[;\t\r\n](?=${formulaStart})|,(?='${formulaStart})`, 'gv'),
  ';': new RegExp(String.raw`[,\t\r\n](?=${formulaStart})|;(?='${formulaStart})`, 'gv'),
  '\t': new RegExp(String.raw`[,;\t\r\n](?=${formulaStart})`, 'gv'),
}
const guardedSplit = new RegExp(String.raw`([,;\t\r\n])'(?=${formulaStart})`, 'gv')

/** Returns the cell with apostrophes added, so that no spreadsheet runs it as a formula. */
export function guardCell(text: string, delimiter: Delimiter): string {
  const inner = text.replace(splitPoints[delimiter], "$&'")
  return startsFormula.test(text) ? `'${inner}` : inner
}

/** Returns the cell without the apostrophes that `guardCell` added. */
export function unguardCell(cell: string): string {
  if (!cell.includes("'")) return cell
  const inner = guardedStart.test(cell) ? cell.slice(1) : cell
  return inner.replace(guardedSplit, '$1')
}

/** Returns one CSV line with its line end; every cell is guarded and quoted. */
export function csvLine(texts: readonly string[], delimiter: Delimiter): string {
  return `${texts.map((text) => quote(guardCell(text, delimiter))).join(delimiter)}\r\n`
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`
}
