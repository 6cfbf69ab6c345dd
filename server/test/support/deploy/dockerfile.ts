/** Build stage of a Dockerfile: its base image and its instructions. */
export interface Stage {
  from: string
  name: string | null
  instructions: Instruction[]
}

export interface Instruction {
  name: string
  /** `--from=build` is `from: 'build'`. */
  flags: Readonly<Record<string, string>>
  /** Everything after the name and the flags. */
  text: string
  /** Words of the text, or the items of a JSON array. */
  words: readonly string[]
}

/** Returns the stages of a Dockerfile in order. */
export function readDockerfile(text: string): Stage[] {
  const whole = text.replaceAll(/^#.*\n/gm, '').replaceAll('\\\n', ' ')
  const stages: Stage[] = []
  for (const line of whole.split('\n').filter((one) => one.trim() !== '')) {
    const instruction = readInstruction(line)
    const [image = '', , name = null] = instruction.words
    if (instruction.name === 'FROM') stages.push({ from: image, name, instructions: [] })
    else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

function readInstruction(line: string): Instruction {
  const [, name = '', given = '', text = ''] = /^(\S+) +((?:--\S+ +)*)(.*)$/.exec(line.trim()) ?? []
  const flags = Object.fromEntries([...given.matchAll(/--(\w+)=(\S+)/g)].map(([, flag, value]) => [flag, value]))
  return { name, flags, text, words: text.startsWith('[') ? JSON.parse(text) : text.split(' ') }
}

/** Returns whether `.dockerignore` keeps a file in the context; the last line matching it or its folder decides. */
export function isInContext(ignore: string, path: string): boolean {
  let isIn = true
  for (const line of ignore.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    if (names(line.replace(/^!/, ''), path)) isIn = line.startsWith('!')
  }
  return isIn
}

// Supports only the pattern syntax that our file uses.
function names(pattern: string, path: string): boolean {
  if (pattern === '*') return true
  const anywhere = pattern.startsWith('**/') ? pattern.slice(3) : null
  if ((anywhere ?? pattern).includes('*')) throw new Error(`The pattern ${pattern} is not supported; add it`)
  return anywhere === null ? `${path}/`.startsWith(`${pattern}/`) : path.split('/').includes(anywhere)
}
