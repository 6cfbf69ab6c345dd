import { TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useState } from 'react'
import type { Lead } from '../../data/leads.ts'
import { useLeadSearch } from '../../data/merges.ts'
import { t } from '../../text/index.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { ErrorState } from '../../ui/page/ErrorState.tsx'
import { useWorkspaceId } from '../../ui/use-workspace-id.ts'
import { formatOptionalPhone, nameOf } from '../fields/lead.ts'
import styles from './merge.module.css'

const shown = 8
const debounceMs = 150

/** Chooses the lead to merge with. */
export function PickLead({ lead, pick }: { lead: { id: string; name: string }; pick(id: string): void }) {
  const workspaceId = useWorkspaceId()
  const [typed, setTyped] = useState('')
  const [term] = useDebouncedValue(typed.trim(), debounceMs)
  const { data, error, refetch } = useLeadSearch(workspaceId, term, shown + 1)
  const found = term === '' ? [] : (data ?? []).filter(({ id }) => id !== lead.id).slice(0, shown)
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const [first] = found
        if (first !== undefined) pick(first.id)
      }}
    >
      <TextInput
        label={t.merge.pick({ name: lead.name })}
        placeholder={t.merge.search}
        value={typed}
        maxLength={100}
        onChange={(event) => setTyped(event.currentTarget.value)}
        data-autofocus
        autoComplete="off"
      />
      {error !== null && <ErrorState error={error} retry={() => void refetch()} />}
      {term !== '' && data !== undefined && found.length === 0 && <p className={styles.muted}>{t.merge.nobody}</p>}
      <ul className={styles.found}>
        {found.map((one) => (
          <li key={one.id}>
            <button type="button" onClick={() => pick(one.id)}>
              <Avatar name={nameOf(one)} size={28} />
              <span>
                <strong>{nameOf(one)}</strong>
                <span className={styles.muted}>{hintOf(one)}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </form>
  )
}

const hintOf = ({ phone, email }: Lead): string => [formatOptionalPhone(phone), email].filter(Boolean).join(' · ')
