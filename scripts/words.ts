// Fails on retired words: `node scripts/words.ts [path …]`. Each has a standard term, which CONTRIBUTING.md explains.
// Names: files, folders, and what a module exports. Texts: comments, strings with spaces, documents, the app's catalogs.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Retired words of names, as they stand between capitals and hyphens, with what to write instead. */
const names: Record<string, string> = {
  'seal|seals|sealed|sealing|unseal': 'encrypt',
  vault: 'keyStore',
  news: 'message',
  'hear|heard|hearing': 'subscribe, receive',
  'tell|tells|told|teller': 'publish, notify',
  'errand|errands': 'background task',
  'chore|chores': 'scheduled job',
  patience: 'retry policy',
  greeting: 'handshake',
  'guessing|guesses': 'lookup limit',
  'arranged|arrangement': 'sorted, sort',
  'courier|couriers': 'sender',
  'parcel|parcels': 'payload',
  agenda: 'scheduler',
  pump: 'delivery loop',
  'verb|verbs': 'tool',
  sight: 'viewer, presenter',
  'said|wanted|given|judged|begun|proven|asked': 'a noun',
  'letgo|goon|giveto|taketime': 'release, continue, assign, measure',
  standing: 'status',
  'trial|trials': 'fault test',
  floor: 'baseline',
  'room|rooms': 'module',
  anew: 'again',
  'pace|paced|paces': 'send rate limiter',
  'admit|admits|admitted': 'authorize',
  together: 'batch',
  acts: 'actions',
  making: 'create',
  patient: 'retry policy',
  'hand-on|handon': 'transfer',
  'talk|talks': 'conversation',
  'way|ways': 'transport, preference',
  moving: 'touched, idle',
}

/** Retired words of texts. */
const texts: Record<string, string> = {
  'seal|seals|sealed|sealing': 'encrypt, encrypted',
  'the news|news of|no news': 'message',
  '(?:is|are|was|were) told(?! apart)|told of|(?:is|are) heard|hears': 'notify, receive',
  'errands?': 'background task',
  '(?<!from |update |select )chores?': 'scheduled job',
  patience: 'retry policy',
  'couriers?': 'sender',
  'parcels?': 'payload',
  anew: 'again',
  'whoever|whosever|whomever': 'a noun',
  'somebody|somebody else': 'someone, a person',
  'the floors?|a floor': 'baseline',
  'this room|the rooms?|a room|rooms of': 'module',
  'trials?': 'fault test',
  'what becomes of|whatever becomes': 'result',
}

export interface Finding {
  place: string
  word: string
  instead: string
}

const inNames = matcher(names)
const inTexts = matcher(texts)

function matcher(words: Record<string, string>) {
  const entries = Object.entries(words).map(([pattern, instead]) => ({
    re: new RegExp(`\\b(?:${pattern})\\b`, 'i'),
    instead,
  }))
  return (text: string): { word: string; instead: string }[] =>
    entries.flatMap(({ re, instead }) => {
      const word = re.exec(text)?.[0]
      return word === undefined ? [] : [{ word, instead }]
    })
}

/** Splits `apiKey` and `api-key.ts` into words. */
const split = (name: string): string => name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/[^a-zA-Z]+/g, ' ')

/** Returns the retired words in a file's path and content. */
export function findRetiredWords(path: string, content: string): Finding[] {
  const found = inNames(split(path)).map((hit) => ({ place: path, ...hit }))
  const isCode = /\.(?:ts|tsx|mjs)$/.test(path)
  content.split('\n').forEach((line, n) => {
    const place = `${path}:${n + 1}`
    const [, exported] = /^export (?:async )?(?:const|function|class|type|interface) (\w+)/.exec(line) ?? []
    if (isCode && exported !== undefined) found.push(...inNames(split(exported)).map((hit) => ({ place, ...hit })))
    for (const text of isCode ? textsOf(line) : [line.replaceAll(/`[^`]*`|\]\([^)]*\)/g, '')])
      found.push(...inTexts(text).map((hit) => ({ place, ...hit })))
  })
  return found
}

/** Returns the comment and the strings with spaces of a line of code. */
function textsOf(line: string): string[] {
  const [comment] = /(?:^|\s)(?:\/\/|\/?\*\*?)\s.*/.exec(line) ?? []
  const code = comment === undefined ? line : line.slice(0, -comment.length)
  const quoted = code.matchAll(/'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/g)
  const strings = [...quoted].map(([text]) => text.replaceAll(/\$\{[^}]*\}/g, '')).filter((text) => text.includes(' '))
  return comment === undefined ? strings : [...strings, comment]
}

if (import.meta.main) {
  const paths = process.argv.slice(2)
  const listed = execFileSync('git', ['ls-files', ...paths], { encoding: 'utf8' }).split('\n')
  const files = listed.filter(
    (path) => /\.(?:ts|tsx|mjs|md)$|text\/.*\.json$/.test(path) && !/\bwords\.(?:test\.)?ts$/.test(path),
  )
  const findings = files.flatMap((path) => findRetiredWords(path, readFileSync(path, 'utf8')))
  for (const { place, word, instead } of findings) console.log(`${place}: "${word}" is retired; write ${instead}`)
  console.log(findings.length === 0 ? 'No retired words' : `${findings.length} retired words`)
  process.exitCode = findings.length === 0 ? 0 : 1
}
