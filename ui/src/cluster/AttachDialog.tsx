/** How to reach a cluster, whether that works, and the way in. */
import { type FormEvent, type ReactElement, useEffect, useId, useRef, useState } from 'react';
import { problemOf } from '../bridge/bridge';
import type { ClusterConnection } from '../generated/protocol';
import { Button, IconButton } from '../shared/Button';
import { attachTo, forgetConnection, keepConnection, keptConnections, testConnection } from '../state/actions';
import { showAttach, useStore } from '../state/store';
import { ConnectionForm } from './ConnectionForm';
import { type Form, NEW_FORM, connectionOf, formOf, lackOf, passwordsOf } from './form';
import { SavedConnections } from './SavedConnections';
import { type Trial, Steps } from './Steps';
import './cluster.css';

export function AttachDialog(): ReactElement | null {
  const attaching = useStore((state) => state.attaching);
  return attaching ? <OpenDialog /> : null;
}

function OpenDialog(): ReactElement {
  const id = useId();
  const dialog = useRef<HTMLDialogElement>(null);
  /** However it was closed, nothing more is wanted of it. */
  const withdrawn = useRef(false);
  const [form, setForm] = useState<Form>(NEW_FORM);
  const [chosen, setChosen] = useState<string | null>(null);
  const [saved, setSaved] = useState<ClusterConnection[]>([]);
  const [trial, setTrial] = useState<Trial>({ type: 'none' });
  const busy = trial.type === 'testing' || trial.type === 'attaching';

  useEffect(() => {
    dialog.current?.showModal();
    dialog.current?.querySelector<HTMLInputElement>('[name="name"]')?.focus();
  }, []);
  useEffect(() => {
    let here = true;
    void keptConnections().then((found) => {
      if (!here) return;
      setSaved(found);
      const [first] = found;
      if (first) choose(first);
    });
    return () => {
      here = false;
    };
  }, []);

  function choose(connection: ClusterConnection | null): void {
    setChosen(connection?.name ?? null);
    setForm(connection ? formOf(connection) : NEW_FORM);
    setTrial({ type: 'none' });
  }

  /** What was tried is no longer true of what is written now. */
  const change = (more: Partial<Form>): void => {
    setForm((before) => ({ ...before, ...more }));
    if (!busy) setTrial({ type: 'none' });
  };

  const isComplete = (): boolean => {
    const lack = lackOf(form);
    if (!lack) return true;
    setTrial({ type: 'lacking', sentence: lack.sentence });
    dialog.current?.querySelector<HTMLInputElement>(`[name="${lack.field}"]`)?.focus();
    return false;
  };

  const test = async (): Promise<void> => {
    if (busy || !isComplete()) return;
    setTrial({ type: 'testing' });
    try {
      setTrial({ type: 'tested', steps: await testConnection(connectionOf(form), passwordsOf(form)) });
    } catch (thrown) {
      setTrial({ type: 'failed', problem: problemOf(thrown) });
    }
  };

  const attach = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy || !isComplete()) return;
    setTrial({ type: 'attaching' });
    try {
      const attached = await attachTo(connectionOf(form), passwordsOf(form), form.record, () => !withdrawn.current);
      if (!attached) return;
      if (form.remember) await keepConnection(connectionOf(form), passwordsOf(form));
      dialog.current?.close();
    } catch (thrown) {
      // Who has withdrawn does not want to hear of it.
      if (!withdrawn.current) setTrial({ type: 'failed', problem: problemOf(thrown) });
    }
  };

  const close = (): void => {
    withdrawn.current = true;
    showAttach(false);
  };

  const forget = async (name: string): Promise<void> => {
    await forgetConnection(name);
    setSaved(await keptConnections());
    choose(null);
  };

  return (
    <dialog ref={dialog} className="attach" aria-labelledby={`${id}-title`} onClose={close} data-testid="attach-dialog">
      <form className="attach-form" noValidate onSubmit={(event) => void attach(event)}>
        <header className="attach-head">
          <div>
            <h2 id={`${id}-title`}>Attach to a live cluster</h2>
            <p>Runeglass only listens and reads. Nothing on the cluster is changed.</p>
          </div>
          <IconButton icon="close" label="Close (Esc)" onClick={() => dialog.current?.close()} />
        </header>
        <div className="attach-body">
          <SavedConnections saved={saved} chosen={chosen} onChoose={choose} onForget={(name) => void forget(name)} />
          <div className="attach-fields">
            <ConnectionForm form={form} saved={saved.find(({ name }) => name === chosen) ?? null} onChange={change} />
            <Steps trial={trial} />
          </div>
        </div>
        <footer className="attach-foot-line">
          <Button data-testid="attach-test" aria-disabled={busy} onClick={() => void test()}>
            Test
          </Button>
          <span className="attach-space" />
          <Button onClick={() => dialog.current?.close()}>Cancel</Button>
          <Button type="submit" look="primary" icon="eye" data-testid="attach-now" aria-disabled={busy}>
            Attach
          </Button>
        </footer>
      </form>
    </dialog>
  );
}
