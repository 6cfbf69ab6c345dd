export interface WrittenStatement {
  line: number
  /** With a number for each value, and pieces that stand in its holes put in. */
  text: string
}

/** The statements that a source of ours has as templates, those that are put into others in the place where they are. */
export function statementsIn(source: string): WrittenStatement[] {
  const found: WrittenStatement[] = []
  let line = 1
  let counted = 0
  for (const { from, text } of templatesIn(source, 0, source.length)) {
    for (; counted < from; counted++) if (source[counted] === '\n') line++
    if (/^\s*(?:--[^\n]*\s*)*(?:select|insert|update|delete|with)\b/.test(text)) found.push({ line, text })
  }
  return found
}

interface Template {
  from: number
  /** Behind its last character. */
  to: number
  text: string
}

/** What is no template, and may hold what looks like one. */
const other = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/y
/** A regular expression, by what stands before it. */
const pattern = /(?<=[(,=:[!&|?{};\n]\s*|return )\/(?:[^/\\\n[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\//y

function templatesIn(source: string, from: number, to: number): Template[] {
  const found: Template[] = []
  for (let at = from; at < to; ) {
    const skipped = skip(source, at)
    if (skipped > at) at = skipped
    else if (source[at] === '`') {
      const template = readTemplate(source, at)
      found.push(template)
      at = template.to
    } else at++
  }
  return found
}

function skip(source: string, at: number): number {
  for (const what of [other, pattern]) {
    what.lastIndex = at
    if (what.test(source)) return what.lastIndex
  }
  return at
}

function readTemplate(source: string, from: number): Template {
  let text = ''
  let at = from + 1
  while (at < source.length && source[at] !== '`') {
    if (source[at] === '\\') {
      text += source.slice(at, at + 2)
      at += 2
    } else if (source.startsWith('${', at)) {
      const end = endOfHole(source, at + 2)
      const pieces = templatesIn(source, at + 2, end)
      text += pieces.length > 0 ? pieces.map((piece) => piece.text).join(' ') : '$1'
      at = end + 1
    } else text += source[at++]
  }
  return { from, to: at + 1, text }
}

/** Where the brace stands that ends a hole. */
function endOfHole(source: string, from: number): number {
  let depth = 0
  for (let at = from; at < source.length; ) {
    const skipped = skip(source, at)
    if (skipped > at) {
      at = skipped
      continue
    }
    const char = source[at]
    if (char === '`') at = readTemplate(source, at).to
    else if (char === '}' && depth === 0) return at
    else {
      if (char === '{') depth++
      if (char === '}') depth--
      at++
    }
  }
  return source.length
}
