import { IconUser } from '@tabler/icons-react'
import styles from './Avatar.module.css'

interface AvatarProps {
  name: string
  size?: number
}

/** Initials on a color derived from the name; an icon if only a number is known. */
export function Avatar({ name, size = 36 }: AvatarProps) {
  const initials = initialsOf(name)
  return (
    <span
      className={styles.avatar}
      data-tint={tintOf(name)}
      style={{ width: size, height: size, fontSize: Math.round(size * 0.38) }}
      aria-hidden="true"
      data-initials={initials}
    >
      {initials === '' && <IconUser size={Math.round(size * 0.56)} />}
    </span>
  )
}

const tints = 6

function tintOf(name: string): number {
  let sum = 0
  for (const character of name) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 997
  return sum % tints
}

function initialsOf(name: string): string {
  if (!/\p{L}/u.test(name)) return ''
  const words = name.split(/\s+/).filter((word) => /^[\p{L}\p{N}]/u.test(word))
  const letters = [words[0], words.length > 1 ? words.at(-1) : undefined].map((word) => [...(word ?? '')][0] ?? '')
  return letters.join('').toUpperCase()
}
