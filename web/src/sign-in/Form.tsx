import { Button, TextInput } from '@mantine/core'
import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { t } from '../text/index.ts'
import styles from './EntryCard.module.css'
import type { EntryField, useEntryForm } from './use-entry-form.ts'

interface FormProps {
  form: Pick<ReturnType<typeof useEntryForm>, 'problem' | 'isBusy' | 'submit'>
  /** Label of the button. */
  action: string
  children?: ReactNode
}

/** Focuses its first field. */
export function Form({ form, action, children }: FormProps) {
  const place = useRef<HTMLFormElement>(null)
  useLayoutEffect(
    () => place.current?.querySelector<HTMLElement>('input:not([type=hidden], [readonly]), button')?.focus(),
    [],
  )
  return (
    // Validation is shown in the page; the browser's popups would cover it.
    <form ref={place} className={styles.form} noValidate onSubmit={form.submit}>
      {form.problem !== null && (
        <p className={styles.problem} role="alert">
          {form.problem}
        </p>
      )}
      {children}
      <Button type="submit" loading={form.isBusy} fullWidth>
        {action}
      </Button>
    </form>
  )
}

/** Field for a new password. */
export function NewPassword({ field }: { field: EntryField }) {
  return (
    <TextInput
      {...field}
      label={t.entry.password}
      description={t.entry.passwordHelp}
      type="password"
      autoComplete="new-password"
      maxLength={256}
    />
  )
}
