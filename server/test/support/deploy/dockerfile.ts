/** One image of a Dockerfile: what it begins with, and what is done to it. */
export interface Stage {
  from: string
  name: string | null
  instructions: Instruction[]
}

export interface Instruction {
  name: string
  /** `--from=build` is `from: 'build'`. */
  flags: Readonly<Record<string, string>>
  /** All that follows name and flags. */
  text: string
  /** The text as words; of one in JSON, its items. */
  words: readonly string[]
}

/** Returns the stages of a Dockerfile in their order. */
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

/** Whether `.dockerignore` lets a file into the build; of several lines that name it, or a folder of it, the last one counts. */
export function isInContext(ignore: string, path: string): boolean {
  let isIn = true
  for (const line of ignore.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    if (names(line.replace(/^!/, ''), path)) isIn = line.startsWith('!')
  }
  return isIn
}

// As much of Docker's patterns as ours take.
function names(pattern: string, path: string): boolean {
  if (pattern === '*') return true
  const anywhere = pattern.startsWith('**/') ? pattern.slice(3) : null
  if ((anywhere ?? pattern).includes('*')) throw new Error(`${pattern} is not known here: add it`)
  return anywhere === null ? `${path}/`.startsWith(`${pattern}/`) : path.split('/').includes(anywhere)
}
