import { TextInput } from '@mantine/core'
import { changePassword } from '../data/team/profile.ts'
import { t } from '../text/index.ts'
import { EntryCard } from './EntryCard.tsx'
import { Form, NewPassword } from './Form.tsx'
import { newPasswordProblems } from './problems.ts'
import { leaveFor } from './SignIn.tsx'
import { useEntryForm } from './use-entry-form.ts'

/** Asks people who signed in by a link to choose a password: the first, or a new one for a forgotten one. */
export function ChoosePassword({ email, isReset }: { email: string; isReset: boolean }) {
  const texts = t.entry
  const form = useEntryForm({ password: '' }, newPasswordProblems, async ({ password }) => {
    await changePassword(password, '')
    leaveFor('/')
  })
  return (
    <EntryCard
      title={texts.choosePassword}
      help={isReset ? texts.newPasswordHelp : texts.choosePasswordHelp}
      below={<a href="/">{texts.later}</a>}
    >
      <Form form={form} action={texts.setPassword}>
        <TextInput
          name="username"
          label={texts.email}
          description={texts.emailHelp}
          type="email"
          value={email}
          autoComplete="username"
          readOnly
        />
        <NewPassword field={form.field('password')} />
      </Form>
    </EntryCard>
  )
}
