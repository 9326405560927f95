/**
 * JSON in CodeMirror, loaded only when somebody edits. It lives in a shadow root: there its styles are adopted style sheets,
 * which the content security policy allows, and no style tags, which it does not.
 */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { json } from '@codemirror/lang-json';
import { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { type Diagnostic, lintGutter, linter } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { type ReactElement, useEffect, useRef } from 'react';
import { faultOf } from './fault';
import './editor.css';

interface Props {
  label: string;
  text: string;
  onChange: (text: string) => void;
  /** Ctrl+Enter. */
  onApply: () => void;
  /** Escape. */
  onCancel: () => void;
}

const LOOK = EditorView.theme({
  '&': { height: '100%', fontSize: 'var(--size-code)', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.55' },
  '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-faint)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'color-mix(in srgb, var(--accent) 7%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--highlight)' },
  '.cm-lintRange-error': { backgroundImage: 'none', borderBottom: '2px wavy var(--state-failed)', textDecoration: 'underline wavy var(--state-failed)' },
  '.cm-tooltip': { border: '1px solid var(--line)', backgroundColor: 'var(--surface)', color: 'var(--text)' },
});

const COLOURS = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--json-name)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--json-string)' },
  { tag: tags.number, color: 'var(--json-number)' },
  { tag: [tags.bool, tags.null], color: 'var(--json-boolean)' },
]);

export default function Editor({ label, text, onChange, onApply, onCancel }: Props): ReactElement {
  const host = useRef<HTMLDivElement>(null);
  // The editor keeps the text; what it calls may change without making it anew.
  const calls = useRef({ onChange, onApply, onCancel });
  useEffect(() => {
    calls.current = { onChange, onApply, onCancel };
  });
  const first = useRef({ text, label });

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const root = element.shadowRoot ?? element.attachShadow({ mode: 'open' });
    const view = editorIn(root, first.current.text, first.current.label, calls);
    element.addEventListener('keydown', keepPlainKeys);
    view.focus();
    return () => {
      element.removeEventListener('keydown', keepPlainKeys);
      view.destroy();
    };
  }, []);
  return <div ref={host} className="json-editor" data-testid="json-editor" />;
}

type Calls = { readonly current: Pick<Props, 'onChange' | 'onApply' | 'onCancel'> };

function editorIn(root: ShadowRoot, doc: string, label: string, calls: Calls): EditorView {
  const act = (call: () => void) => (): boolean => {
    call();
    return true;
  };
  const own = [
    { key: 'Mod-Enter', run: act(() => calls.current.onApply()) },
    { key: 'Escape', run: act(() => calls.current.onCancel()) },
  ];
  return new EditorView({
    parent: root,
    root,
    state: EditorState.create({
      doc,
      extensions: [
        keymap.of([...own, ...historyKeymap, ...defaultKeymap]),
        lineNumbers(),
        history(),
        drawSelection(),
        highlightActiveLine(),
        bracketMatching(),
        indentOnInput(),
        indentUnit.of('  '),
        json(),
        syntaxHighlighting(COLOURS),
        linter((view) => diagnosticsOf(view.state.doc.toString()), { delay: 200 }),
        lintGutter(),
        EditorView.contentAttributes.of({ 'aria-label': label }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged) calls.current.onChange(update.state.doc.toString());
        }),
        LOOK,
      ],
    }),
  });
}

export function diagnosticsOf(text: string): Diagnostic[] {
  const fault = faultOf(text);
  if (!fault) return [];
  const from = Math.min(fault.offset, text.length);
  return [{ from, to: Math.min(from + 1, text.length), severity: 'error', message: fault.message }];
}

/** From outside of a shadow root nobody sees that somebody writes, so letters stay inside; the keys that step go on. */
function keepPlainKeys(event: KeyboardEvent): void {
  if (!/^F\d+$/.test(event.key) && !(event.ctrlKey && event.key.toLowerCase() === 'r')) event.stopPropagation();
}
