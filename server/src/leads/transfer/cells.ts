// Spreadsheets run a cell that begins like this as a formula, whoever wrote it.
const formula = /^'*[=+\-@\t\r]/
const guarded = /^'+[=+\-@\t\r]/

/** A cell that no spreadsheet takes for a formula: those that look like one get an apostrophe in front. */
export function guardCell(text: string): string {
  return formula.test(text) ? `'${text}` : text
}

/** The text of a cell, without the apostrophe that `guardCell` gave it. */
export function unguardCell(cell: string): string {
  return guarded.test(cell) ? cell.slice(1) : cell
}

/** One line of a CSV file, guarded and with its line end. */
export function csvLine(texts: readonly string[], delimiter: string): string {
  return `${texts.map((text) => quote(guardCell(text), delimiter)).join(delimiter)}\r\n`
}

function quote(cell: string, delimiter: string): string {
  const isPlain = !cell.includes(delimiter) && !/["\r\n]/.test(cell)
  return isPlain ? cell : `"${cell.replaceAll('"', '""')}"`
}
