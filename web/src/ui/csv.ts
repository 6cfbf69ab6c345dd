// Spreadsheets run what begins like this as a formula, whoever wrote it, and some begin anew within a cell. What lies before
// the sign has no character at which they do, so that no text is read twice.
const formula = /(^|[;\t\r\n])(?=[\p{Zs}\p{Cf}"']*[=＝﹦+＋﹢\-－﹣−@＠﹫])/gu

/** A file that spreadsheets open, with every cell in quotes, and nothing in it that they would run. */
export function csvOf(rows: readonly (readonly (string | number)[])[]): string {
  return `\uFEFF${rows.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('')}`
}

function cellOf(value: string | number): string {
  const text = typeof value === 'number' ? String(value) : value.replace(formula, "$1'")
  return `"${text.replaceAll('"', '""')}"`
}

/** Hands the browser a file to keep. */
export function saveCsv(name: string, rows: readonly (readonly (string | number)[])[]): void {
  const url = URL.createObjectURL(new Blob([csvOf(rows)], { type: 'text/csv' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.csv`
  link.click()
  URL.revokeObjectURL(url)
}
