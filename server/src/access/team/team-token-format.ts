import { checksum62, randomBase62 } from '../../base/sealing/secret-token.ts'

const shape = /^plt_[0-9A-Za-z]{32}_[0-9A-Za-z]{6}$/

/** `plt_<32 random>_<6 checksum>`: a prefix that secret scanners find, and 190 random bits. */
export function makeTeamToken(): string {
  const body = `plt_${randomBase62(32)}`
  return `${body}_${checksum62(body)}`
}

export function isTeamToken(text: string): boolean {
  return shape.test(text) && text.slice(-6) === checksum62(text.slice(0, -7))
}
