import type { ErrorComponentProps } from '@tanstack/react-router'
import { Trouble } from './Trouble.tsx'

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return <Trouble error={error} retry={reset} />
}
