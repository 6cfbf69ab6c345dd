import type { Label } from '../../data/labels.ts'

const colors: Record<Label['color'], string> = {
  grey: '#8d97a9',
  red: '#e0483d',
  orange: '#e8772e',
  amber: '#dfa21f',
  green: '#38a169',
  teal: '#1f9e9a',
  blue: '#3b82d6',
  indigo: '#5a64e4',
  violet: '#9257d8',
  pink: '#d9568f',
}

/** A dot's colour; the label's name always stands beside it. */
export const labelColor = (color: Label['color']): string => colors[color]
