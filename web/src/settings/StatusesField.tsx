import { Button, Input, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconX } from '@tabler/icons-react'
import { type KeyboardEvent, useState } from 'react'
import { t } from '../text/index.ts'
import { statusName } from '../ui/format/lead-texts.ts'
import { RowButton } from './parts/RowButton.tsx'
import styles from './StatusesField.module.css'
import { moveItem, statusToken } from './status-token.ts'

interface StatusesFieldProps {
  value: readonly string[]
  change(to: string[]): void
  error: string | undefined
  disabled: boolean
}

/** Lead statuses in order. */
export function StatusesField({ value, change, error, disabled }: StatusesFieldProps) {
  const texts = t.settings.workspace
  return (
    <Input.Wrapper label={texts.statuses} description={texts.statusesHelp} error={error} labelElement="div">
      <ul className={styles.list} aria-label={texts.statuses}>
        {value.map((status, n) => (
          <li key={status} className={styles.row}>
            <span className={styles.number}>{n + 1}</span>
            <span className={styles.name}>{statusName(status)}</span>
            <code className={styles.token}>{status}</code>
            {!disabled && (
              <>
                <RowButton
                  label={texts.up({ name: statusName(status) })}
                  hasTitle
                  disabled={n === 0}
                  run={() => change(moveItem(value, status, -1))}
                  icon={IconArrowUp}
                />
                <RowButton
                  label={texts.down({ name: statusName(status) })}
                  hasTitle
                  disabled={n === value.length - 1}
                  run={() => change(moveItem(value, status, 1))}
                  icon={IconArrowDown}
                />
                <RowButton
                  label={texts.remove({ name: statusName(status) })}
                  hasTitle
                  disabled={value.length === 1}
                  run={() => change(value.filter((one) => one !== status))}
                  icon={IconX}
                />
              </>
            )}
          </li>
        ))}
      </ul>
      {!disabled && <NewStatus value={value} change={change} />}
    </Input.Wrapper>
  )
}

function NewStatus({ value, change }: Pick<StatusesFieldProps, 'value' | 'change'>) {
  const [typed, setTyped] = useState('')
  const [problem, setProblem] = useState<string | null>(null)
  const texts = t.settings.workspace
  const add = () => {
    const token = statusToken(typed)
    if (token === null) return setProblem(texts.statusForm)
    if (value.includes(token)) return setProblem(texts.statusTaken)
    change([...value, token])
    setTyped('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    add()
  }
  return (
    <div className={styles.add}>
      <TextInput
        label={texts.addStatus}
        value={typed}
        error={problem}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setProblem(null)
        }}
        onKeyDown={onKeyDown}
      />
      <Button variant="default" onClick={add}>
        {texts.add}
      </Button>
    </div>
  )
}
