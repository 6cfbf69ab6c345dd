import { ActionIcon, Button, Menu, TextInput } from '@mantine/core'
import { IconArrowDown, IconArrowUp, IconPlus, IconTrash } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import type { TemplateButton } from '../data/team/templates.ts'
import { t } from '../text/index.ts'
import { emptyButton, moved } from './draft-content.ts'
import styles from './Editor.module.css'
import { Count, type PartProps } from './editor-parts.tsx'

const buttonTypes = ['quick_reply', 'url', 'phone', 'copy_code'] as const

/** Buttons of a template, in their order. */
export function ButtonFields({ editor, limits, errorOf }: PartProps) {
  const texts = t.templates.editor
  const { content, change } = editor
  const { buttons } = content
  const add = (type: TemplateButton['type']) => change({ buttons: [...buttons, emptyButton(type)] })
  const problem = errorOf('buttons')
  return (
    <section className={styles.section} aria-label={texts.buttons}>
      <h2>{texts.buttons}</h2>
      <ul className={styles.buttons}>
        {buttons.map((button, n) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: buttons are identified by position
          <li key={n} className={styles.button}>
            <div className={styles.head}>
              <strong>{texts.buttonTypes[button.type]}</strong>
              <IconButton
                label={texts.moveUp}
                icon={<IconArrowUp size={16} />}
                isOff={n === 0}
                run={() => change({ buttons: moved(buttons, n, -1) })}
              />
              <IconButton
                label={texts.moveDown}
                icon={<IconArrowDown size={16} />}
                isOff={n === buttons.length - 1}
                run={() => change({ buttons: moved(buttons, n, 1) })}
              />
              <IconButton
                label={texts.removeButton}
                icon={<IconTrash size={16} />}
                run={() => change({ buttons: buttons.filter((_, at) => at !== n) })}
              />
            </div>
            <OneButton
              button={button}
              limit={limits?.buttonText}
              errorOf={(field) => errorOf(`buttons[${n}].${field}`)}
              set={(changes) => change({ buttons: buttons.with(n, { ...button, ...changes }) })}
            />
          </li>
        ))}
      </ul>
      {problem !== undefined && (
        <p className={styles.refusal} role="alert">
          {problem}
        </p>
      )}
      <Menu position="bottom-start">
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<IconPlus size={14} />}
            disabled={buttons.length >= (limits?.buttons ?? 10)}
          >
            {texts.addButton}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {buttonTypes.map((type) => (
            <Menu.Item key={type} onClick={() => add(type)}>
              {texts.buttonTypes[type]}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </section>
  )
}

interface OneButtonProps {
  button: TemplateButton
  limit: number | undefined
  errorOf(field: string): string | undefined
  set(changes: Partial<TemplateButton>): void
}

function OneButton({ button, limit, errorOf, set }: OneButtonProps) {
  const texts = t.templates.editor
  const { type, text, value, sample } = button
  return (
    <>
      {type !== 'copy_code' && (
        <>
          <TextInput
            label={texts.buttonText}
            value={text}
            dir="auto"
            error={errorOf('text')}
            onChange={({ currentTarget }) => set({ text: currentTarget.value })}
          />
          <div className={styles.tools}>
            <Count text={text} limit={limit} />
          </div>
        </>
      )}
      {type !== 'quick_reply' && (
        <TextInput
          label={texts.buttonValues[type]}
          {...(type === 'url' && { description: texts.urlHelp })}
          value={value}
          dir="ltr"
          error={errorOf('value')}
          onChange={({ currentTarget }) => set({ value: currentTarget.value })}
        />
      )}
      {type === 'url' && value.includes('{{1}}') && (
        <TextInput
          label={texts.sampleOf({ name: '{{1}}' })}
          value={sample}
          dir="ltr"
          error={errorOf('sample')}
          onChange={({ currentTarget }) => set({ sample: currentTarget.value })}
        />
      )}
    </>
  )
}

interface IconButtonProps {
  label: string
  icon: ReactNode
  isOff?: boolean
  run(): void
}

function IconButton({ label, icon, isOff = false, run }: IconButtonProps) {
  return (
    <ActionIcon variant="subtle" color="gray" aria-label={label} disabled={isOff} onClick={run}>
      {icon}
    </ActionIcon>
  )
}
