import type { ErrorComponentProps } from '@tanstack/react-router'
import { ErrorNotice } from './ErrorNotice.tsx'

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return <ErrorNotice error={error} retry={reset} />
}
