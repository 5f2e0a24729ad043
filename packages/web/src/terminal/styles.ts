// The page's policy lets no style element count, and xterm.js writes its colours and sizes into some. It is given elements
// that are no styles, and what it writes there is put into sheets of the page's own, which the policy lets through.

const MARK = 'data-terminal-style';

/** Makes something that makes style elements: each is one that the browser does not read. */
export const withoutStyleElements = <Made>(make: () => Made): Made => {
  const original = Document.prototype.createElement;
  const inert = (name: string, options?: ElementCreationOptions): HTMLElement => {
    const element = original.call(document, name === 'style' ? 'template' : name, options);
    if (name === 'style') element.setAttribute(MARK, '');
    return element;
  };
  Object.defineProperty(document, 'createElement', { value: inert, configurable: true });
  try {
    return make();
  } finally {
    Reflect.deleteProperty(document, 'createElement');
  }
};

/** Keeps a sheet for each of those elements below `root`. What it answers takes them away. */
export const adoptStyles = (root: HTMLElement): (() => void) => {
  const sheets = new Map([...root.querySelectorAll(`[${MARK}]`)].map((element) => [element, new CSSStyleSheet()]));
  const read = (): void => {
    for (const [element, sheet] of sheets) sheet.replaceSync(element.textContent);
  };
  read();
  const mine = new Set(sheets.values());
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, ...mine];
  const writes = new MutationObserver(read);
  for (const element of sheets.keys()) writes.observe(element, { childList: true, characterData: true, subtree: true });
  return () => {
    writes.disconnect();
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => !mine.has(one));
  };
};
