import type { ErrorComponentProps } from '@tanstack/react-router'
import { Trouble } from './ErrorNotice.tsx'

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return <Trouble error={error} retry={reset} />
}
