// Passkeys: a form with data-passkey gets the browser's answer in its hidden field, and is sent.
'use strict';

document.addEventListener('DOMContentLoaded', () => {
  const { startAuthentication, startRegistration } = globalThis.SimpleWebAuthnBrowser;
  for (const form of document.querySelectorAll('form[data-passkey]')) {
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const optionsJSON = JSON.parse(form.dataset.options);
      const start = form.dataset.passkey === 'create' ? startRegistration : startAuthentication;
      const problem = form.querySelector('[data-problem]');
      try {
        form.elements.response.value = JSON.stringify(await start({ optionsJSON }));
      } catch (error) {
        problem.textContent = `The browser did not use a passkey (${error.name}). Try again.`;
        problem.hidden = false;
        return;
      }
      form.submit();
    });
    if (form.dataset.auto !== undefined) form.requestSubmit();
  }
});
