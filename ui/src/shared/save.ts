/** Hands a text to the browser as a file. */
export function saveText(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has its own hold on the data once the download has begun.
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}
