import { invisible } from '../../../base/text/external-text.ts'
import type { Delimiter } from './file-rows.ts'

// Spreadsheets run text that starts like this as a formula. Some treat wide and small forms as the plain characters,
// and all skip invisible characters; a leading quote may be read as the end of the cell.
const unread = String.raw`[[\p{White_Space}\p{Cc}${invisible}"]--[\t\r\n]]*`
const runs = String.raw`'*${unread}[=＝﹦⁼₌⩵⩶+＋﹢⁺₊﬩\-－﹣−⁻₋@＠﹫]`

const beginning = new RegExp(String.raw`^(?:'*[\t\r\n]|${runs})`, 'v')
const guardedBeginning = new RegExp(String.raw`^'(?:'*[\t\r\n]|${runs})`, 'v')

// A program that expects another delimiter splits cells despite quotes: with `;` as the delimiter of the locale, at
// every `;`, and then at line ends too. At the file's own comma or semicolon nothing is split: there only text that
// already has an apostrophe gets another, so that removing one restores the text.
const cuts: Readonly<Record<Delimiter, RegExp>> = {
  ',': new RegExp(String.raw`[;\t\r\n](?=${runs})|,(?='${runs})`, 'gv'),
  ';': new RegExp(String.raw`[,\t\r\n](?=${runs})|;(?='${runs})`, 'gv'),
  '\t': new RegExp(String.raw`[,;\t\r\n](?=${runs})`, 'gv'),
}
const guardedCut = new RegExp(String.raw`([,;\t\r\n])'(?=${runs})`, 'gv')

/** Returns the cell with apostrophes added, so that no spreadsheet runs it as a formula. */
export function guardCell(text: string, delimiter: Delimiter): string {
  const inner = text.replace(cuts[delimiter], "$&'")
  return beginning.test(text) ? `'${inner}` : inner
}

/** Returns the cell without the apostrophes that `guardCell` added. */
export function unguardCell(cell: string): string {
  if (!cell.includes("'")) return cell
  const inner = guardedBeginning.test(cell) ? cell.slice(1) : cell
  return inner.replace(guardedCut, '$1')
}

/** Returns one CSV line with its line end; every cell is guarded and quoted. */
export function csvLine(texts: readonly string[], delimiter: Delimiter): string {
  return `${texts.map((text) => quote(guardCell(text, delimiter))).join(delimiter)}\r\n`
}

function quote(cell: string): string {
  return `"${cell.replaceAll('"', '""')}"`
}
